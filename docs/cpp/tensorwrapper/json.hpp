// Strict JSON: a label is parsed once, bounded as it is read, and its numbers keep the text they came in.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <locale>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorwrapper/errors.hpp"

namespace tensorwrapper {

// Strict JSON. Numbers keep the text they came in.
struct Json {
  enum Kind { null, boolean, number, text, list, object } kind = null;
  std::string word;  // of a number, a text, or `true` and `false`
  std::vector<Json> items;
  std::map<std::string, Json, std::less<>> keys;
  Json() = default;
  explicit Json(Kind k, std::string w = "") : kind(k), word(std::move(w)) {}
  Json(const char* w) : Json(text, w) {}
  Json(std::string w) : Json(text, std::move(w)) {}
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>> Json(N n) : kind(number) {
    if constexpr (std::is_same_v<N, bool>) {
      kind = boolean, word = n ? "true" : "false";
    } else {
      if constexpr (std::is_floating_point_v<N>) allow(std::isfinite(n), "JSON has no NaN and no infinities");
      char room[64];
      word.assign(room, std::to_chars(room, room + sizeof room, n).ptr);
      if (std::is_floating_point_v<N> && word.find_first_of(".e") == word.npos) word += ".0";
    }
  }
  template <class V> Json(const std::vector<V>& values) : kind(list), items(values.begin(), values.end()) {}
  const Json* find(std::string_view key) const {  // nothing unless there is such a key
    const auto place = keys.find(key);
    return place == keys.end() ? nullptr : &place->second;
  }
  const Json* given(std::string_view key) const {  // the same, where null means absent
    const Json* const found = find(key);
    return found && found->kind != null ? found : nullptr;
  }
  Json& operator[](const std::string& key) { return kind = object, keys[key]; }
  std::string dump() const {
    if (kind == null) return "null";
    if (kind == text) return quoted(word);
    if (kind < text) return word;
    std::string out;
    for (const Json& item : items) out += ',' + item.dump();
    for (const auto& [key, value] : keys) out += ',' + quoted(key) + ':' + value.dump();
    return (kind == list ? '[' : '{') + out.substr(!out.empty()) + (kind == list ? ']' : '}');
  }
  static std::string quoted(const std::string& raw) {
    allow(is_utf8(raw), "a text that is not UTF-8");
    std::string out = "\"";
    for (const char c : raw) {
      const std::size_t known = std::string_view("\"\\\b\f\n\r\t").find(c);
      if (known < 7) (out += '\\') += "\"\\bfnrt"[known];
      else if (static_cast<unsigned char>(c) >= 32) out += c;
      else ((out += "\\u00") += "01"[c >> 4]) += "0123456789abcdef"[c & 15];
    }
    return out + '"';
  }
  static bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const auto byte = [&](std::size_t k) -> unsigned { return static_cast<unsigned char>(text[at + k]); };
      const unsigned lead = byte(0);
      const std::size_t more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
      if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || text.size() - at <= more) return false;
      if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return false;  // long; half a pair
      if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return false;  // long; beyond
      for (std::size_t k = 1; k <= more; ++k)
        if ((byte(k) & 0xc0) != 0x80) return false;
      at += more + 1;
    }
    return true;
  }
};

class Parser {
 public:
  Parser(std::string_view text, const Limits& limits) : text_(text), limits_(limits) {}
  Json parse() {
    Json out = value(0);
    space();
    want(at_ == text_.size());
    return out;
  }

 private:
  void want(bool holds) const { require(holds, Reason::header, "a label that is not strict JSON, or nests too deep"); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view word) { return text_.compare(at_, word.size(), word) == 0 && (at_ += word.size(), true); }
  void count() { require(++items_ <= limits_.label_items, Reason::limit, "a label of too many values"); }
  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) < 4) ++at_;
  }
  Json value(std::int64_t depth) {
    space();
    if (take("null")) return Json();
    if (take("true")) return Json(true);
    if (take("false")) return Json(false);
    if (peek() == '"') return Json(text());
    const bool object = take("{");
    if (!object && !take("[")) return number();
    want(depth < limits_.depth);
    count();
    Json out(object ? Json::object : Json::list);
    for (space(); !take(object ? "}" : "]"); space()) {
      if (!out.items.empty() || !out.keys.empty()) {
        want(take(","));
        count();
        space();
      }
      if (!object) {
        out.items.push_back(value(depth + 1));
        continue;
      }
      const auto [place, is_new] = out.keys.emplace(text(), Json());
      space();
      want(is_new && take(":"));
      place->second = value(depth + 1);
    }
    return out;
  }
  std::size_t digits() {
    const std::size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    want(at_ > start);
    return at_ - start;
  }
  Json number() {
    const std::size_t start = at_;
    take("-");
    const bool zero = peek() == '0';
    std::size_t count = digits();
    want(!zero || count == 1);
    const bool fraction = take(".");
    if (fraction) count += digits();
    const bool power = take("e") || take("E");
    if (power) take("+") || take("-"), count += digits();
    Json out(Json::number, std::string(text_.substr(start, at_ - start)));
    if (fraction || power) {
      std::istringstream in(out.word);
      in.imbue(std::locale::classic());
      double value = 0;
      in >> value;
      want(!in.fail() || std::abs(value) < 1);  // not beyond a double
    } else {
      want(count <= 4300);
    }
    require(count <= static_cast<std::size_t>(limits_.digits), Reason::limit, "a number of too many digits");
    return out;
  }
  unsigned hex() {
    unsigned code = 0;
    const std::string_view four = text_.substr(at_, 4);
    want(four.size() == 4 && std::from_chars(four.data(), four.data() + 4, code, 16).ptr == four.data() + 4);
    return at_ += 4, code;
  }
  std::string text() {
    want(take("\""));
    std::string out;
    while (!take("\"")) {
      want(static_cast<unsigned char>(peek()) >= 32);
      const char c = text_[at_++];
      const std::size_t known = c == '\\' ? std::string_view("\"\\/bfnrt").find(peek()) : 9;
      if (known < 9) ++at_;
      if (c != '\\' || known < 9) {
        out += c == '\\' ? "\"\\/\b\f\n\r\t"[known] : c;
        continue;
      }
      want(take("u"));
      unsigned code = hex();
      if (code >= 0xd800 && code < 0xe000) {  // a pair, or half of one
        want(code < 0xdc00 && take("\\u"));
        const unsigned low = hex();
        want(low >= 0xdc00 && low < 0xe000);
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      }
      const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
      out += static_cast<char>(more ? (0x7f80u >> more & 0xff) | code >> 6 * more : code);
      for (unsigned k = more; k-- > 0;) out += static_cast<char>(0x80 | (code >> 6 * k & 0x3f));
    }
    return out;
  }
  std::string_view text_;
  const Limits& limits_;
  std::size_t at_ = 0;
  std::int64_t items_ = 0;
};

}  // namespace tensorwrapper
