// What a message is refused for, and the bounds of a reader: the last tables of docs/format.md.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace tensorwrapper {

enum class Reason { frame, header, schema, limit, size, layout, unsupported, integrity };

struct ProtocolError : std::runtime_error {
  ProtocolError(Reason r, const std::string& why) : std::runtime_error(why), reason(r) {}
  const char* code() const {
    static const char* const codes[] = {"frame", "header", "schema", "limit",
                                        "size", "layout", "unsupported", "integrity"};
    return codes[static_cast<int>(reason)];
  }
  Reason reason;
};

inline void require(bool holds, Reason reason, const char* why) {
  if (!holds) throw ProtocolError(reason, why);
}
inline void allow(bool holds, const char* why) {
  if (!holds) throw std::invalid_argument(why);
}

struct Limits {  // as the format's table has them
  std::int64_t label_bytes = 1 << 24, label_items = 1000000, depth = 64, digits = 1000, rank = 64, tensors = 65536;
  std::int64_t parts = 262144, empty_elements = 1 << 20, extent = std::int64_t{1} << 36;
  std::int64_t received_bytes = std::int64_t{1} << 32, total_bytes = std::int64_t{1} << 40;
};
constexpr std::int64_t farthest = std::int64_t{1} << 62;  // of any first index and any mark, and of minus that

}  // namespace tensorwrapper
