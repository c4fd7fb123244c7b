// Frames become tensors that point into them. Everything is taken for hostile: numbers are compared with their
// bounds, sizes with the bytes that are there, before anything is made of them.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensorwrapper/tensor.hpp"

namespace tensorwrapper {

class Decoder {
 public:
  Decoder(const std::vector<Bytes>& frames, const Limits& limits) : frames_(frames), limits_(limits) {}
  Message decode() {
    require(frames_.size() >= 2, Reason::frame, "fewer than two frames");
    require(frames_.size() - 2 <= static_cast<std::size_t>(limits_.parts), Reason::limit, "too many parts");
    for (const Bytes& frame : frames_) claim(frame.count);
    total_ = 0;
    const std::string_view head(reinterpret_cast<const char*>(frames_[0].first), frames_[0].count);
    require(head.size() >= 8 && head.substr(0, 3) == "ZIO", Reason::frame, "no prefix header of ZIO");
    require(head[3] >= '0' && head[3] <= '8' && frames_[1].count == 24, Reason::frame, "no level or coordinates");
    Message out;
    out.level = head[3] - '0', out.form = head.substr(4, 4), out.text = head.substr(8);
    std::memcpy(&out.origin, frames_[1].first, 8);
    std::memcpy(&out.granule, frames_[1].first + 8, 8);
    std::memcpy(&out.seqno, frames_[1].first + 16, 8);
    out.parts.assign(frames_.begin() + 2, frames_.end());
    for (const char c : out.form) require(c >= 0, Reason::frame, "a form that is not ASCII");
    require(static_cast<std::int64_t>(out.text.size()) <= limits_.label_bytes, Reason::limit, "a label too long");
    require(Json::is_utf8(out.text), Reason::header, "a label that is not UTF-8");
    const bool strict = out.form == "TENS" || out.form == "FLOW" || out.form == "JSON";
    const std::size_t start = out.text.find_first_not_of(" \t\r\n");
    if (start == out.text.npos || (!strict && out.text[start] != '{')) return out;
    out.label = Parser(out.text, limits_).parse();
    out.text.clear();
    const Json* const tens = out.label.given("TENS");
    if (!tens) return out;
    require(tens->kind == Json::object, Reason::schema, "TENS is no object");
    if (tens->given("metadata")) out.metadata = need(*tens, "metadata", Json::object);
    parts_ = out.parts;
    if (const Json* sums = tens->given("checksums")) check_sums(*sums);
    if (!tens->find("tensors")) return out;
    const Json& entries = need(*tens, "tensors", Json::list);
    require(static_cast<std::int64_t>(entries.items.size()) <= limits_.tensors, Reason::limit, "too many tensors");
    std::vector<std::size_t> at;  // which part has the elements: all that is claimed is bounded before any is read
    for (const Json& entry : entries.items) out.tensors.push_back(described(entry, at));
    for (Tensor& t : out.tensors) fill(t, at[&t - &out.tensors[0]]);
    return out;
  }

 private:
  void claim(std::uint64_t bytes) {
    require(bytes <= static_cast<std::uint64_t>(limits_.total_bytes - total_), Reason::limit, "too many bytes");
    total_ += bytes;
  }
  static const Json& need(const Json& object, std::string_view key, Json::Kind kind) {
    const Json* const found = object.find(key);
    require(found && found->kind == kind, Reason::schema, "a key that is missing or of the wrong type");
    return *found;
  }
  static std::string text(const Json& object, std::string_view key) {
    const std::string& word = need(object, key, Json::text).word;
    require(word.size() <= 64 || std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xc0) != 0x80; }) <= 64,
            Reason::limit, "a name of over 64 characters");
    return word;
  }
  static std::int64_t integer(const Json* value, std::int64_t least, std::int64_t most, Reason below, Reason above) {
    require(value && value->kind == Json::number, Reason::schema, "an integer that is missing or of another type");
    const std::string& word = value->word;
    require(word.find_first_of(".eE") == word.npos, Reason::schema, "no integer");
    std::int64_t n = 0;
    const bool far = std::from_chars(word.data(), word.data() + word.size(), n).ec != std::errc();
    require(far ? word[0] != '-' : n >= least, below, "a number that is too low");
    require(far ? word[0] == '-' : n <= most, above, "a number that is too high");
    return n;
  }
  static std::int64_t integer(const Json* value, std::int64_t least, std::int64_t most, Reason beyond) {
    return integer(value, least, most, beyond, beyond);
  }
  std::int64_t times(std::int64_t a, std::int64_t b, std::int64_t most, Reason reason) const {
    require(b == 0 || a <= most / b, reason, "a product that is too large");
    return a * b;
  }
  // How many elements; where there are none, the places without any are bounded: the extents before the first 0.
  std::int64_t volume(const std::int64_t* extents, std::size_t rank, std::int64_t most, Reason reason, int few) {
    const std::int64_t* const zero = std::find(extents, extents + rank, 0);
    std::int64_t n = 1;
    for (const std::int64_t* extent = extents; extent != zero; ++extent)
      n = zero == extents + rank ? times(n, *extent, most, reason)
                                 : times(n, *extent, limits_.empty_elements + 1, Reason::limit);
    return zero == extents + rank ? n : (empty(n - few), 0);
  }
  void empty(std::int64_t places) {
    empty_ += places;
    require(empty_ <= limits_.empty_elements, Reason::limit, "too many places without elements");
  }
  Bytes aligned(Tensor& t, std::size_t part, std::size_t word) {  // copied once where the elements could not be where it lies
    Bytes& bytes = parts_[part];
    if (reinterpret_cast<std::uintptr_t>(bytes.first) % word && bytes.count) {
      const std::shared_ptr<std::uint64_t> room(new std::uint64_t[bytes.count / 8 + 1],
                                                std::default_delete<std::uint64_t[]>());
      std::memcpy(room.get(), bytes.first, bytes.count);
      bytes.first = reinterpret_cast<const unsigned char*>(room.get());
      owners_[part] = room;
    }
    if (owners_.count(part)) t.owners.push_back(owners_[part]);
    return bytes;
  }
  std::size_t part(const Json* number) const {
    return integer(number, 0, static_cast<std::int64_t>(parts_.size()) - 1, Reason::layout);
  }
  enum Rule { any, bools, ascending, range };
  static constexpr std::size_t anything = SIZE_MAX;  // as many numbers as there are
  Integers integers(Tensor& t, const Json* number, Rule rule, std::size_t count = anything) {
    const std::size_t p = part(number);
    require(parts_[p].count % 8 == 0 && (count == anything || parts_[p].count / 8 == count), Reason::size,
            "a part of other integers than said");
    const Bytes bytes = aligned(t, p, 8);
    const Integers out{reinterpret_cast<const std::int64_t*>(bytes.first), bytes.count / 8};
    if (rule != any && seen_.insert({p, rule}).second) {  // once, however many tensors name the part
      if (rule == ascending) require(std::is_sorted(out.begin(), out.end()), Reason::layout, "splits that descend");
      for (const std::int64_t n : out)
        if (rule == range) require(-farthest <= n && n <= farthest, Reason::limit, "a place beyond 2^62");
    }
    return out;
  }
  Extents list(const Json& object, std::string_view key, std::int64_t least, std::int64_t most, Reason below) {
    Extents out;
    const Json& values = need(object, key, Json::list);
    require(values.items.size() <= static_cast<std::size_t>(limits_.rank), Reason::limit, "too many modes");
    for (const Json& value : values.items) out.push_back(integer(&value, least, most, below, Reason::limit));
    return out;
  }
  void check_sums(const Json& of) const {
    require(of.kind == Json::object, Reason::schema, "checksums that are no object");
    require(need(of, "algorithm", Json::text).word == "crc32", Reason::unsupported, "check sums of another algorithm");
    const Json& sums = need(of, "parts", Json::list);
    require(sums.items.size() <= parts_.size(), Reason::layout, "more check sums than parts");
    for (std::size_t p = 0; p < sums.items.size(); ++p) {
      if (sums.items[p].kind == Json::null) continue;
      std::uint32_t crc = 0xffffffff;
      for (const unsigned char byte : parts_[p]) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
      }
      std::string text;
      for (int digit = 28; digit >= 0; digit -= 4) text += "0123456789abcdef"[~crc >> digit & 15];
      require(sums.items[p].kind == Json::text && sums.items[p].word.size() == 8, Reason::schema, "no check sum");
      require(sums.items[p].word == text, Reason::integrity, "a part that differs from its check sum");
    }
  }
  // Of what is not understood nothing more is looked at.
  Tensor described(const Json& entry, std::vector<std::size_t>& at) {
    require(entry.kind == Json::object, Reason::schema, "an entry that is no object");
    Tensor t;
    t.entry = entry;
    at.push_back(at.size());
    const std::string dtype = text(entry, "dtype");
    const std::string packing = entry.given("packing") ? need(entry, "packing", Json::text).word : "dense";
    const std::int64_t w = t.word = integer(entry.find("word"), INT64_MIN, INT64_MAX, Reason::unsupported);
    const char c = t.dtype = dtype.size() == 1 ? dtype[0] : '!';
    const bool whole = w == 1 || w == 2 || w == 4 || w == 8;
    if (!((c == 'b' && w == 1) || ((c == 'i' || c == 'u') && whole) || (c == 'f' && whole && w > 1) ||
          (c == 'c' && (w == 8 || w == 16)) || (c == '?' && w == 0)))
      return t.refused = "an element type that is not known", t;
    t.packing = packing == "dense" ? Tensor::dense : packing == "jagged" ? Tensor::jagged
              : packing == "tiled" ? Tensor::tiled : Tensor::other;
    if (t.packing == Tensor::other) return t.refused = "a packing that is not known", t;
    t.shape = list(entry, "shape", 0, limits_.extent, Reason::schema);
    if (c == '?' && !t.shape.empty()) return t.refused = "elements of no type", t;
    if (const Json* metadata = entry.given("metadata")) t.metadata = *metadata;
    const Json* const pointer = entry.given("pointer");
    require(!pointer || pointer->word == "0", Reason::unsupported, "a pointer");
    const Json place(at.back());
    at.back() = part(entry.find("part") ? entry.find("part") : &place);
    if (t.packing != Tensor::dense) {
      const Json& of = need(entry, packing, Json::object);
      if (integer(of.find("version"), INT64_MIN, INT64_MAX, Reason::unsupported) != 1)
        return t.refused = "a version of a packing that is not known", t;
      require(!entry.find("order") && !entry.find("ascend") && !entry.given("origin"), Reason::unsupported,
              "order, ascend or origin beside a packing");
    }
    std::int64_t bytes = w;
    for (const std::int64_t extent : t.shape)
      if (extent) bytes = times(bytes, extent, limits_.total_bytes, Reason::limit);
    if (volume(t.shape.data(), t.shape.size(), limits_.total_bytes, Reason::limit, 0) && claimed_.insert(at.back()).second)
      claim(bytes);
    return t;
  }
  void fill(Tensor& t, std::size_t p) {
    if (!t.refused.empty()) return;
    std::int64_t n = 1;
    for (const std::int64_t extent : t.shape) n = extent && n ? n * extent : 0;
    require(parts_[p].count == static_cast<std::uint64_t>(n * t.word), Reason::size, "a part of another size than said");
    t.bytes = aligned(t, p, std::min<std::size_t>(8, std::max<std::size_t>(t.word, 1)));
    if (t.dtype == 'b' && seen_.insert({p, bools}).second)
      for (const unsigned char byte : t.bytes) require(byte < 2, Reason::integrity, "a bool that is neither 0 nor 1");
    if (t.packing == Tensor::dense) dense(t);
    else if (t.packing == Tensor::jagged) jagged(t, *t.entry.find("jagged"), n);
    else tiled(t, *t.entry.find("tiled"), n);
  }
  void dense(Tensor& t) {
    const Json& entry = t.entry;
    const std::size_t rank = t.shape.size();
    t.row_major();
    t.origin.assign(rank, 0);
    if (entry.given("origin")) t.origin = list(entry, "origin", -farthest, farthest, Reason::limit);
    require(t.origin.size() == rank, Reason::schema, "an origin of another rank");
    if (const Json* order = entry.find("order")) {
      Extents seen(rank, 0);
      require(order->kind == Json::list && order->items.size() == rank, Reason::layout, "no permutation");
      for (std::size_t k = 0; k < rank; ++k) {
        const std::string& word = order->items[k].word;
        require(order->items[k].kind == Json::number && word.find_first_of(".eE") == word.npos, Reason::layout, "no permutation");
        t.order[k] = integer(&order->items[k], 0, rank - 1, Reason::layout);
        require(!seen[t.order[k]]++, Reason::layout, "no permutation");
      }
    }
    if (const Json* ascend = entry.find("ascend")) {
      require(ascend->kind == Json::list && ascend->items.size() == rank, Reason::layout, "ascend of another rank");
      for (std::size_t k = 0; k < rank; ++k) {
        require(ascend->items[k].kind == Json::boolean, Reason::layout, "ascend of other than booleans");
        t.ascend[k] = ascend->items[k].word == "true";
      }
    }
    t.settle();
  }
  void jagged(Tensor& t, const Json& of, std::int64_t n) {
    t.cell_rank = integer(of.find("cell_rank"), 1, limits_.rank, Reason::schema, Reason::limit);
    const Json& splits = need(of, "splits", Json::list);
    const std::size_t d = splits.items.size() + 1, s = t.cell_rank;
    require(d <= static_cast<std::size_t>(limits_.rank) - s, Reason::limit, "too many modes");
    require(t.shape.size() == 1, Reason::schema, "a shape that is not the number of elements");
    for (const Json& number : splits.items) {
      const Integers part = integers(t, &number, ascending, t.splits.empty() ? anything : n_nodes(t) + 1);
      require(part.count && part[0] == 0, Reason::layout, "splits that do not start at 0");
      t.splits.push_back(part);
    }
    t.cells = integers(t, of.find("cells"), s == 1 ? ascending : any,
                       d == 1 || s > 1 ? anything : n_nodes(t) + 1);
    require(s == 1 || (t.cells.count % s == 0 && (d == 1 || t.cells.count / s == n_nodes(t))), Reason::size,
            "cells of other nodes");
    if (s == 1) {
      require(t.cells.count && t.cells[0] == 0, Reason::layout, "splits that do not start at 0");
      require(t.cells[t.cells.count - 1] == n, Reason::size, "cells that do not add up");
    } else {
      auto& starts = starts_[{part(of.find("cells")), s}];
      if (!starts) starts = std::make_shared<const Extents>(places(t));
      t.starts = starts;
      require(starts->back() == n, Reason::size, "cells that do not add up");
    }
    if (of.find("absent")) t.absent = list(of, "absent", 0, limits_.extent, Reason::schema);
    require(t.absent.empty() || (t.absent.size() == s && !t.n_cells()), Reason::schema, "absent extents beside cells");
    if (!of.given("origins")) return;
    const Json& origins = need(of, "origins", Json::list);
    require(origins.items.size() == d + s, Reason::schema, "origins of another rank");
    for (std::size_t m = 0; m < d + s; ++m) {
      Origins mode;
      if (m && origins.items[m].kind == Json::object) {
        const std::size_t nodes = m >= d ? t.n_cells() : t.splits[m - 1].count - 1;
        mode.each = integers(t, origins.items[m].find("part"), range, nodes);
      } else {
        mode.all = integer(&origins.items[m], -farthest, farthest, Reason::limit);
      }
      t.origins.push_back(mode);
    }
  }
  static std::size_t n_nodes(const Tensor& t) { return t.splits.back()[t.splits.back().count - 1]; }
  Extents places(const Tensor& t) {  // where each cell begins, and the last ends
    const std::size_t s = t.cell_rank;
    Extents out{0};
    for (std::size_t k = 0; k < t.cells.count; k += s) {
      for (std::size_t m = 0; m < s; ++m) {
        require(t.cells[k + m] >= 0 && t.cells[k + m] <= limits_.extent, Reason::limit, "an extent of a cell out of bounds");
      }
      out.push_back(out.back() + volume(&t.cells[k], s, limits_.total_bytes - out.back(), Reason::size, 1));
    }
    return out;
  }
  void tiled(Tensor& t, const Json& of, std::int64_t n) {
    const Json& marks = need(of, "marks", Json::list);
    const std::size_t r = marks.items.size();
    require(r > 0, Reason::schema, "no marks");
    require(2 * r <= static_cast<std::size_t>(limits_.rank), Reason::limit, "too many modes");
    t.first.assign(r, 0);
    if (of.given("first")) t.first = list(of, "first", -farthest, farthest, Reason::limit);
    require(t.first.size() == r, Reason::schema, "numbers of first tiles of another rank");
    const Json* const storage = of.given("storage");
    t.apart = storage && storage->kind == Json::text && storage->word == "tiles";
    if (storage && !t.apart && (storage->kind != Json::text || storage->word != "box"))
      t.refused = "a storage that is not known";
    if (!t.refused.empty()) return;
    Extents box;
    for (const Json& number : marks.items) {
      t.marks.push_back(integers(t, &number, ascending));
      integers(t, &number, range);
      const Integers m = t.marks.back();
      require(m.count > 0, Reason::layout, "no marks of a mode");
      box.push_back(m[m.count - 1] - m[0]);
      require(box.back() <= limits_.extent, Reason::limit, "a span that is too large");
    }
    if (!t.apart) require(t.shape == box, Reason::size, "a shape that is not the box");
    else require(t.shape.size() == 1 && volume(box.data(), r, limits_.total_bytes, Reason::size, 1) == n, Reason::size,
                 "a shape that is not the number of elements");
  }
  const std::vector<Bytes>& frames_;
  const Limits& limits_;
  std::int64_t total_ = 0, empty_ = 0;
  std::vector<Bytes> parts_;  // in their places, or copied to where elements may be
  std::map<std::size_t, Owner> owners_;
  std::set<std::pair<std::size_t, int>> seen_;
  std::set<std::size_t> claimed_;
  std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<const Extents>> starts_;
};

inline Message decode(const std::vector<Bytes>& frames, const Limits& limits = {}) {
  return Decoder(frames, limits).decode();
}

}  // namespace tensorwrapper
