// Tensors become frames that point into them, wherever they lie as the format has them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorwrapper/decode.hpp"

namespace tensorwrapper {

template <class T, std::size_t N> Tensor dense(const Array<T, N>& array, Json metadata = {}, bool keep = false) {
  using E = std::remove_const_t<T>;
  Tensor t;
  t.dtype = letter<E>(), t.word = sizeof(E), t.metadata = std::move(metadata);
  t.shape.assign(array.extents.begin(), array.extents.end());
  t.origin.assign(array.bases.begin(), array.bases.end());
  const std::int64_t n = array.num_elements();
  const auto lies = [&] {
    for (std::size_t k = 0; n && k < N; ++k)
      if (array.extents[k] > 1 && array.steps[k] != t.strides[k]) return false;
    return true;
  };
  t.row_major();
  if (keep && !lies()) {
    for (std::size_t k = 0; k < N; ++k) t.ascend[k] = array.extents[k] < 2 || array.steps[k] > 0;
    std::stable_sort(t.order.begin(), t.order.end(),
                     [&](auto a, auto b) { return std::abs(array.steps[a]) < std::abs(array.steps[b]); });
    t.settle();
    if (!lies()) t.row_major();
  }
  const E* first = array.first;
  if (!lies()) {
    const std::shared_ptr<E> room(new E[n], std::default_delete<E[]>());
    typename Array<T, N>::Index index = array.bases;
    for (std::int64_t k = 0; k < n; ++k) {
      room.get()[k] = *array.address(index);
      for (std::size_t m = N; m-- > 0 && ++index[m] == array.bases[m] + array.extents[m];) index[m] = array.bases[m];
    }
    first = room.get();
    t.owners.push_back(room);
  }
  t.bytes = {reinterpret_cast<const unsigned char*>(first - t.start), n * sizeof(E)};
  return t;
}

template <class T> Tensor jagged(Span<const T> elements, std::vector<Integers> splits, Integers cells,
                                 std::int64_t cell_rank = 1, std::vector<Origins> origins = {}, Json metadata = {}) {
  Tensor t = dense(Array<const T, 1>{elements.first, {{static_cast<std::int64_t>(elements.count)}}, {{1}}, {}}, metadata);
  t.packing = Tensor::jagged, t.cell_rank = cell_rank, t.cells = cells;
  t.splits = std::move(splits), t.origins = std::move(origins);
  return t;
}

// A box, or with `apart` the elements of one tile after the other.
template <class T, std::size_t N>
Tensor tiled(const Array<T, N>& box, std::vector<Integers> marks, bool apart = false, Json metadata = {}) {
  Tensor t = dense(box, std::move(metadata));
  t.packing = Tensor::tiled, t.first.assign(marks.size(), 0), t.apart = apart, t.marks = std::move(marks);
  return t;
}

struct Frames {
  std::vector<Bytes> list;
  std::vector<Owner> owners;
};

inline Bytes keep(Frames& frames, std::string bytes) {
  const auto room = std::make_shared<const std::string>(std::move(bytes));
  frames.owners.push_back(room);
  return {reinterpret_cast<const unsigned char*>(room->data()), room->size()};
}

// Tensor k is in part k, and what says where elements are comes after all of them.
inline Frames encode(const std::vector<Tensor>& tensors, const Message& head = {}) {
  Frames out;
  std::vector<Bytes> indices;
  std::map<std::pair<const std::int64_t*, std::size_t>, std::size_t> known;  // one part for one array
  const auto index = [&](Integers of) {
    const auto [place, is_new] = known.emplace(std::make_pair(of.first, of.count), tensors.size() + indices.size());
    if (is_new) indices.push_back({reinterpret_cast<const unsigned char*>(of.first), of.count * 8});
    return Json(place->second);
  };
  const auto numbers = [&](const std::vector<Integers>& all) {
    Json list(Json::list);
    for (const Integers& of : all) list.items.push_back(index(of));
    return list;
  };
  Json entries(Json::list);
  out.list.resize(2);
  for (const Tensor& t : tensors) {
    allow(t.refused.empty(), "a tensor that was not read cannot be written");
    Json e = t.entry;
    for (const char* key : {"order", "ascend", "origin", "metadata", "packing", "jagged", "tiled"})
      if (const auto place = e.keys.find(key); place != e.keys.end()) e.keys.erase(place);
    e["dtype"] = std::string(1, t.dtype), e["word"] = t.word, e["shape"] = t.shape, e["part"] = entries.items.size();
    if (t.metadata.kind != Json::null) e["metadata"] = t.metadata;
    if (t.packing == Tensor::dense) {
      Tensor plain = t;
      plain.row_major();
      if (t.origin != Extents(t.origin.size(), 0)) e["origin"] = t.origin;
      if (t.order != plain.order || t.ascend != plain.ascend) {
        Json ascend(Json::list);
        for (const std::int64_t up : t.ascend) ascend.items.emplace_back(up != 0);
        if (t.order != plain.order) e["order"] = t.order;
        if (t.ascend != plain.ascend) e["ascend"] = ascend;
      }
    } else {
      e["packing"] = t.packing == Tensor::jagged ? "jagged" : "tiled";
      Json& of = e[t.packing == Tensor::jagged ? "jagged" : "tiled"];
      of["version"] = 1;
      if (t.packing == Tensor::tiled) {
        of["marks"] = numbers(t.marks);
        if (t.first != Extents(t.first.size(), 0)) of["first"] = t.first;
        if (t.apart) of["storage"] = "tiles";
      } else {
        if (!t.absent.empty()) of["absent"] = t.absent;
        for (const Origins& mode : t.origins) {
          Json origin(mode.all);
          if (mode.each.first) origin = Json(), origin["part"] = index(mode.each);
          of["origins"].items.push_back(std::move(origin));
        }
        if (!t.origins.empty()) of["origins"].kind = Json::list;
        of["cell_rank"] = t.cell_rank, of["splits"] = numbers(t.splits);
        of["cells"] = index(t.cells);
      }
    }
    entries.items.push_back(std::move(e));
    out.list.push_back(t.bytes);
    out.owners.insert(out.owners.end(), t.owners.begin(), t.owners.end());
  }
  out.list.insert(out.list.end(), indices.begin(), indices.end());
  Json label = head.label.kind == Json::object ? head.label : Json();
  Json& tens = label["TENS"];
  if (const auto sums = tens.keys.find("checksums"); sums != tens.keys.end()) tens.keys.erase(sums);
  tens["tensors"] = std::move(entries);
  if (head.metadata.kind != Json::null) tens["metadata"] = head.metadata;
  std::string coordinates(24, '\0');
  const std::uint64_t numbers_[] = {head.origin, head.granule, head.seqno};
  std::memcpy(&coordinates[0], numbers_, 24);
  out.list[0] = keep(out, "ZIO" + std::to_string(head.level) + (head.form + "    ").substr(0, 4) + label.dump());
  out.list[1] = keep(out, std::move(coordinates));
  try {
    decode(out.list);  // what is written can be read
  } catch (const ProtocolError& error) {
    throw std::invalid_argument(std::string("a message that no reader takes: ") + error.what());
  }
  return out;
}

}  // namespace tensorwrapper
