// Runs of elements, and strided views with the members of boost::multi_array.
#pragma once
#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "elements are read where they lie, and they are little-endian"
#endif

namespace tensorwrapper {

template <class T> struct Span {
  T* first = nullptr;
  std::size_t count = 0;
  T* begin() const { return first; }
  T* end() const { return first + count; }
  T* data() const { return first; }
  std::size_t size() const { return count; }
  T& operator[](std::size_t k) const { return first[k]; }
};
using Bytes = Span<const unsigned char>;
using Integers = Span<const std::int64_t>;
using Extents = std::vector<std::int64_t>;
using Owner = std::shared_ptr<const void>;  // of memory that no caller holds

// A view as boost::multi_array has them: element (i, j) is `steps` times how far it is from `bases`, from `first`.
template <class T, std::size_t N> struct Array {
  using element = std::remove_const_t<T>;
  using Index = std::array<std::int64_t, N>;
  static constexpr std::size_t dimensionality = N;
  T* first = nullptr;
  Index extents{}, steps{}, bases{};
  const std::int64_t* shape() const { return extents.data(); }
  const std::int64_t* strides() const { return steps.data(); }
  const std::int64_t* index_bases() const { return bases.data(); }
  std::int64_t num_elements() const {
    std::int64_t n = 1;
    for (std::int64_t extent : extents) n *= extent;
    return n;
  }
  template <class... I> T& operator()(I... index) const { return *address({{static_cast<std::int64_t>(index)...}}); }
  T& at(const Index& index) const {
    for (std::size_t k = 0; k < N; ++k)
      if (index[k] < bases[k] || index[k] - bases[k] >= extents[k]) throw std::out_of_range("index outside the array");
    return *address(index);
  }
  decltype(auto) operator[](std::int64_t i) const {
    static_assert(N > 0, "a scalar has no modes");
    if constexpr (N == 1) {
      return (*address({{i}}));
    } else {
      Array<T, N - 1> rest{first + (i - bases[0]) * steps[0], {}, {}, {}};
      std::copy(extents.begin() + 1, extents.end(), rest.extents.begin());
      std::copy(steps.begin() + 1, steps.end(), rest.steps.begin());
      std::copy(bases.begin() + 1, bases.end(), rest.bases.begin());
      return rest;
    }
  }
  T* address(const Index& index) const {
    std::int64_t place = 0;
    for (std::size_t k = 0; k < N; ++k) place += (index[k] - bases[k]) * steps[k];
    return first + place;
  }
};

// Of a boost::multi_array, or whatever else has its members; it points at index 0, so first indices are small.
template <class A> Array<const typename A::element, A::dimensionality> view(const A& array) {
  Array<const typename A::element, A::dimensionality> seen;
  seen.first = array.origin();
  for (std::size_t k = 0; k < A::dimensionality; ++k) {
    seen.extents[k] = static_cast<std::int64_t>(array.shape()[k]);
    seen.steps[k] = array.strides()[k];
    seen.bases[k] = array.index_bases()[k];
    seen.first += seen.bases[k] * seen.steps[k];
  }
  return seen;
}

struct Half {  // a float of 16 bits, which C++17 has no arithmetic for
  std::uint16_t bits;
};

template <class T> constexpr char letter() {
  if constexpr (std::is_same_v<T, bool>) return 'b';
  else if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? 'i' : 'u';
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, float> || std::is_same_v<T, double>) return 'f';
  else return sizeof(typename T::value_type) == sizeof(T) / 2 ? 'c' : 0;
}

}  // namespace tensorwrapper
