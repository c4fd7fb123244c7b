// The other end of the tests: reads messages of a stream or a socket, answers what it saw, or sends them back.
#include <iostream>

#include "tensorwrapper.hpp"
using namespace tensorwrapper;

#if WITH_ZMQ
#include <zmq.h>
#endif

namespace {

// Every tensor in row-major order of its indices, as the views of the header have it.
template <class T, std::size_t N> void walk(const Array<const T, N>& array, std::string& out) {
  if constexpr (N == 0) {
    out.append(reinterpret_cast<const char*>(&array()), sizeof(T));
  } else {
    for (std::int64_t i = 0; i < array.extents[0]; ++i) {
      if constexpr (N == 1) out.append(reinterpret_cast<const char*>(&array[array.bases[0] + i]), sizeof(T));
      else walk(array[array.bases[0] + i], out);
    }
  }
}

// What boost::multi_array has of a type, and nothing else; origin() is the place of the index 0, ..., 0.
template <class T, std::size_t N> struct Like {
  using element = T;
  static constexpr std::size_t dimensionality = N;
  const Array<const T, N>& of;
  const T* origin() const { return of.address({}); }
  auto shape() const { return of.shape(); }
  auto strides() const { return of.strides(); }
  auto index_bases() const { return of.index_bases(); }
};

template <class T, std::size_t N> void tiles(const Tensor& t, std::string& out) {
  std::array<std::int64_t, N> number{};
  for (std::size_t m = 0; m < N; ++m) {
    if (t.marks[m].count < 2) return;
    number[m] = t.first[m];
  }
  for (;;) {
    walk(t.tile<T, N>(number), out);
    std::size_t m = N;
    const auto behind = [&] { return t.first[m] + static_cast<std::int64_t>(t.marks[m].count) - 1; };
    while (m-- > 0 && ++number[m] == behind()) number[m] = t.first[m];
    if (m == static_cast<std::size_t>(-1)) return;
  }
}

template <class T, std::size_t N> void visit(const Tensor& t, std::string& out, std::vector<Tensor>& made) {
  if (t.packing == Tensor::dense && t.shape.size() == N) {
    const auto array = t.array<T, N>();
    walk(array, out);
    made.push_back(dense(array, t.metadata, true));  // keeps the order
    if constexpr (N == 2)
      if (std::abs(array.bases[0]) < 1000 && std::abs(array.bases[1]) < 1000) made.back() = dense(view(Like<T, N>{array}), t.metadata, true);
  } else if (t.packing == Tensor::tiled && t.marks.size() == N) {
    if constexpr (N > 0) tiles<T, N>(t, out);
  } else if (t.packing == Tensor::jagged && t.cell_rank == N) {
    if constexpr (N > 0)
      for (std::size_t k = 0; k < t.n_cells(); ++k) walk(t.cell<T, N>(k), out);
  } else if constexpr (N < 4) {
    visit<T, N + 1>(t, out, made);
  }
}

// Each type is asked for once; where elements are is the same for all of one size, and compiled for one.
template <class... T> bool is_one_of(const Tensor& t) {
  const auto is = [&](char c, std::size_t word) { return t.dtype == c && t.word == static_cast<std::int64_t>(word); };
  return ((is(letter<T>(), sizeof(T)) && t.elements<T>().size() * sizeof(T) == t.bytes.size()) || ...);
}

Tensor rewritten(const Tensor& t, std::string& out) {
  using namespace std;
  const bool known = is_one_of<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, Half,
                               float, double, complex<float>, complex<double>>(t);
  if (t.dtype != '?' && !known) throw logic_error("a type that no C++ type is");
  Tensor plain = t;
  vector<Tensor> made;
  plain.dtype = t.word == 16 ? 'c' : 'u';
  if (t.word == 1) visit<uint8_t, 0>(plain, out, made);
  if (t.word == 2) visit<uint16_t, 0>(plain, out, made);
  if (t.word == 4) visit<uint32_t, 0>(plain, out, made);
  if (t.word == 8) visit<uint64_t, 0>(plain, out, made);
  if (t.word == 16) visit<complex<double>, 0>(plain, out, made);
  if (made.empty()) return t;
  made[0].dtype = t.dtype, made[0].entry = t.entry;
  made[0].owners.insert(made[0].owners.end(), t.owners.begin(), t.owners.end());  // a view has none
  return made[0];
}

Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const unsigned char*>(text.data()), text.size()}; }

// Two answers to a message: what was seen in it, and the message written anew.
struct Answers {
  Frames seen, echo;
};

Answers answer(const std::vector<Bytes>& frames) {
  Answers out;
  Message report;
  report.form = "JSON";
  report.label["reason"] = Json();
  std::vector<std::string> walked;
  std::vector<Tensor> made, bytes;
  try {
    const Message message = decode(frames);
    Json refused(Json::list);
    for (const Tensor& t : message.tensors) {
      std::string elements;
      made.push_back(t.refused.empty() ? rewritten(t, elements) : t);
      refused.items.push_back(Json(t.refused));
      walked.push_back(std::move(elements));
    }
    report.label["refused"] = refused;
    if (std::all_of(made.begin(), made.end(), [](const Tensor& t) { return t.refused.empty(); }))
      out.echo = encode(made, message);
  } catch (const ProtocolError& error) {
    report.label["reason"] = error.code();
    walked.clear();
  }
  for (const std::string& elements : walked) {
    const auto n = static_cast<std::int64_t>(elements.size());
    bytes.push_back(dense(Array<const char, 1>{elements.data(), {{n}}, {{1}}, {}}));
  }
  out.seen = encode(bytes, report);
  out.seen.list[0] = keep(out.seen, std::string(out.seen.list[0].begin(), out.seen.list[0].end()));
  for (std::size_t k = 0; k < bytes.size(); ++k)
    out.seen.list[k + 2] = keep(out.seen, std::string(walked[k]));
  return out;
}

// Envelopes of 8 bytes of length, each with a single frame that may be spoilt: two of them for each.
int pipe() {
  std::uint64_t size = 0;
  while (std::cin.read(reinterpret_cast<char*>(&size), 8)) {
    std::string whole(size, '\0');
    std::cin.read(&whole[0], size);
    Answers answers;
    try {
      answers = answer(decode_frames(bytes_of(whole)));
    } catch (const ProtocolError& error) {
      Message report;
      report.label["reason"] = error.code();
      answers.seen = encode({}, report);
    }
    write_stream(std::cout, answers.seen.list);
    if (answers.echo.list.empty()) answers.echo = encode({});
    write_stream(std::cout, answers.echo.list);
  }
  return 0;
}

// A stream of messages, each written anew.
int stream() {
  try {
    for (std::string whole; read_stream(std::cin, whole);)
      write_stream(std::cout, answer(decode_frames(bytes_of(whole))).echo.list);
  } catch (const ProtocolError& error) {
    std::cerr << error.code();
    return 3;
  }
  return 0;
}

#if WITH_ZMQ
// Echoes messages until one comes without tensors.
int socket(const char* endpoint) {
  void* const context = zmq_ctx_new();
  void* const pair = zmq_socket(context, ZMQ_PAIR);
  if (zmq_connect(pair, endpoint)) return 4;
  for (bool more = true; more;) {
    std::vector<std::string> received;
    do {
      zmq_msg_t frame;
      zmq_msg_init(&frame);
      if (zmq_msg_recv(&frame, pair, 0) < 0) return 5;
      received.emplace_back(static_cast<const char*>(zmq_msg_data(&frame)), zmq_msg_size(&frame));
      more = zmq_msg_more(&frame);
      zmq_msg_close(&frame);
    } while (more);
    std::vector<Bytes> frames;
    for (const std::string& frame : received)
      frames.push_back(bytes_of(frame));
    const Answers answers = answer(frames);
    for (std::size_t k = 0; k < answers.echo.list.size(); ++k)
      if (zmq_send(pair, answers.echo.list[k].first, answers.echo.list[k].count,
                   k + 1 < answers.echo.list.size() ? ZMQ_SNDMORE : 0) < 0)
        return 6;
    more = answers.echo.list.size() > 2;
  }
  zmq_close(pair);
  zmq_ctx_term(context);
  return 0;
}
#endif

}  // namespace

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
#if WITH_ZMQ
  if (mode == "socket" && count > 2) return socket(words[2]);
#endif
  return mode == "pipe" ? pipe() : mode == "stream" ? stream() : 2;
}
