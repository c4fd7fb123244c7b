// A tensor as it was read, or is to be written: dense, jagged or tiled.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tensorwrapper/json.hpp"
#include "tensorwrapper/views.hpp"

namespace tensorwrapper {

struct Origins {  // of one mode: one first index for all, or one for each node (or cell)
  std::int64_t all = 0;
  Integers each;
  std::int64_t of(std::size_t node) const { return each.count ? each[node] : all; }
};

struct Tensor {
  enum Packing { dense, jagged, tiled, other } packing = dense;
  char dtype = '?';
  std::int64_t word = 0, start = 0, cell_rank = 0;  // start: which element is that at the first index of all
  Extents shape, order, ascend, strides, origin;    // all but `shape`: of a dense tensor; strides in elements
  Bytes bytes;
  Json metadata, entry;          // entry: what the label says of it, application keys included
  std::string refused;           // not empty if it is of a kind that is not read here
  std::vector<Integers> splits;  // jagged: children of the nodes of each depth from 1
  Integers cells;                // jagged: splits of the elements, or the extents of each cell
  std::vector<Origins> origins;  // jagged: of each mode, or none
  Extents absent;                // jagged: the extents that cells would have
  std::shared_ptr<const Extents> starts;  // jagged: where each cell begins, if its rank is above 1
  std::vector<Integers> marks;            // tiled: the boundaries of the tiles, for each mode
  Extents first;                          // tiled: the number of the first tile, for each mode
  bool apart = false;                     // tiled: tiles are stored one after the other
  std::vector<Owner> owners;

  template <class T> Span<const T> elements() const {
    require(refused.empty(), Reason::unsupported, refused.c_str());
    allow(dtype == letter<T>() && word == sizeof(T), "elements of another type");
    return {reinterpret_cast<const T*>(bytes.first), bytes.count / sizeof(T)};
  }
  template <class T, std::size_t N> Array<const T, N> array() const {
    const Span<const T> all = elements<T>();
    allow(packing == dense && shape.size() == N, "not a dense tensor of this rank");
    Array<const T, N> out{all.first + start, {}, {}, {}};
    for (std::size_t k = 0; k < N; ++k) out.extents[k] = shape[k], out.steps[k] = strides[k], out.bases[k] = origin[k];
    return out;
  }
  std::size_t n_cells() const { return cell_rank == 1 ? cells.count - 1 : cells.count / cell_rank; }
  template <class T, std::size_t S> Array<const T, S> cell(std::size_t k) const {
    const Span<const T> all = elements<T>();
    allow(packing == jagged && cell_rank == S && k < n_cells(), "no such cell");
    Array<const T, S> out{all.first + (S == 1 ? cells[k] : (*starts)[k]), {}, {}, {}};
    std::int64_t step = 1;
    for (std::size_t m = S; m-- > 0; step *= out.extents[m]) {
      out.extents[m] = S == 1 ? cells[k + 1] - cells[k] : cells[k * S + m];
      out.steps[m] = step;
      out.bases[m] = origins.empty() ? 0 : origins[splits.size() + 1 + m].of(k);
    }
    return out;
  }
  template <class T, std::size_t N> Array<const T, N> tile(const std::array<std::int64_t, N>& number) const {
    const Span<const T> all = elements<T>();
    allow(packing == tiled && marks.size() == N, "not a tensor in tiles of this rank");
    Array<const T, N> out{all.first, {}, {}, {}};
    std::int64_t inside = 1, behind = 1, before = 1;  // the step in a tile, in the box; elements of a slab of tiles
    for (std::size_t m = N; m-- > 0;) {
      const std::int64_t k = number[m] - first[m];
      allow(k >= 0 && k + 1 < static_cast<std::int64_t>(marks[m].count), "no such tile");
      out.extents[m] = marks[m][k + 1] - marks[m][k];
      out.steps[m] = apart ? inside : behind;
      inside *= out.extents[m], behind *= marks[m][marks[m].count - 1] - marks[m][0];
    }
    for (std::size_t m = 0; m < N; before *= out.extents[m++]) {
      std::int64_t after = before;
      for (std::size_t j = m + 1; j < N; ++j) after *= marks[j][marks[j].count - 1] - marks[j][0];
      out.first += (marks[m][number[m] - first[m]] - marks[m][0]) * (apart ? after : out.steps[m]);
    }
    return out;
  }
  void settle() {  // strides and start, of shape, order and ascend
    std::int64_t step = 1;
    strides.assign(shape.size(), 0), start = 0;
    for (const std::int64_t k : order) {
      strides[k] = ascend[k] ? step : -step;
      step *= shape[k];
    }
    for (std::size_t k = 0; step && k < shape.size(); ++k) start += ascend[k] ? 0 : (1 - shape[k]) * strides[k];
  }
  void row_major() {
    order.resize(shape.size()), ascend.assign(shape.size(), 1);
    for (std::size_t k = 0; k < shape.size(); ++k) order[k] = shape.size() - 1 - k;
    settle();
  }
};

struct Message {
  int level = 0;
  std::string form = "TENS", text;  // text: the label of another form, if it is not JSON
  std::uint64_t origin = 0, granule = 0, seqno = 0;
  Json label, metadata;
  std::vector<Bytes> parts;
  std::vector<Tensor> tensors;
};

}  // namespace tensorwrapper
