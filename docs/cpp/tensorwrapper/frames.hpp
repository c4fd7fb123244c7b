// The single frame, and the stream of messages.
#pragma once
#include <algorithm>
#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "tensorwrapper/views.hpp"
#include "tensorwrapper/errors.hpp"

namespace tensorwrapper {

inline std::string encode_frames(const std::vector<Bytes>& frames) {
  std::string out;
  for (const Bytes& frame : frames) {
    allow(frame.count < std::uint64_t{1} << 32, "a frame that is too large for a single frame");
    if (frame.count < 255) out += static_cast<char>(frame.count);
    else for (const int shift : {-1, 24, 16, 8, 0}) out += static_cast<char>(shift < 0 ? 255 : frame.count >> shift);
    out.append(reinterpret_cast<const char*>(frame.first), frame.count);
  }
  return out;
}

inline std::vector<Bytes> decode_frames(Bytes whole, const Limits& limits = {}) {
  std::vector<Bytes> out;
  for (std::size_t at = 0; at < whole.count;) {
    std::size_t size = whole[at++];
    if (size == 255) {
      require(whole.count - at >= 4, Reason::frame, "a size that leads beyond the end");
      for (int k = size = 0; k < 4; ++k) size = size << 8 | whole[at++];
    }
    require(size <= whole.count - at, Reason::frame, "a size that leads beyond the end");
    require(out.size() < static_cast<std::size_t>(limits.parts) + 2, Reason::limit, "too many parts");
    out.push_back({whole.first + at, size});
    at += size;
  }
  require(out.size() >= 2, Reason::frame, "fewer than two frames");
  return out;
}

// The next message of a stream as a single frame, or nothing at its end. Memory is taken as bytes arrive.
inline bool read_stream(std::istream& in, std::string& whole, const Limits& limits = {}) {
  std::uint64_t size = 0;
  whole.clear();
  in.read(reinterpret_cast<char*>(&size), 8);
  if (in.gcount() == 0) return false;
  require(in.gcount() == 8 && size >= 34, Reason::frame, "a stream without a length");
  require(size <= static_cast<std::uint64_t>(limits.received_bytes), Reason::limit, "too many bytes");
  while (whole.size() < size) {
    const std::size_t old = whole.size(), more = std::min<std::uint64_t>(size - old, 1 << 20);
    whole.resize(old + more);
    require(static_cast<bool>(in.read(&whole[old], more)), Reason::frame, "a stream that ends within a message");
  }
  return true;
}

inline void write_stream(std::ostream& out, const std::vector<Bytes>& frames) {
  const std::string whole = encode_frames(frames);
  const std::uint64_t size = whole.size();
  out.write(reinterpret_cast<const char*>(&size), 8).write(whole.data(), size);
}

}  // namespace tensorwrapper
