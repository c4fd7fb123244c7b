// Reads messages from its standard input, and writes for each a message of the sum of every row.
#include <iostream>
#include <numeric>

#include "tensorwrapper.hpp"
namespace tens = tensorwrapper;

int main() {
  for (std::string whole; tens::read_stream(std::cin, whole);) {
    try {
      const auto frames = tens::decode_frames({reinterpret_cast<const unsigned char*>(whole.data()), whole.size()});
      const tens::Message message = tens::decode(frames);
      std::vector<double> sums;
      for (const tens::Tensor& t : message.tensors) {
        if (t.packing == tens::Tensor::jagged) {
          for (std::size_t k = 0; k < t.n_cells(); ++k) {
            const auto row = t.cell<double, 1>(k);
            sums.push_back(std::accumulate(row.first, row.first + row.extents[0], 0.0));
          }
        } else {
          const auto table = t.array<double, 2>();  // however its elements lie
          for (std::int64_t i = 0; i < table.extents[0]; ++i) {
            sums.push_back(0);
            for (std::int64_t j = 0; j < table.extents[1]; ++j)
              sums.back() += table[table.bases[0] + i][table.bases[1] + j];
          }
        }
      }
      tens::Json metadata;
      metadata["rows"] = sums.size();
      const auto n = static_cast<std::int64_t>(sums.size());
      const tens::Array<const double, 1> view{sums.data(), {{n}}, {{1}}, {}};
      tens::Message answer;
      answer.seqno = message.seqno;
      tens::write_stream(std::cout, tens::encode({tens::dense(view, metadata)}, answer).list);
    } catch (const tens::ProtocolError& error) {
      std::cerr << error.code() << ": " << error.what() << '\n';
      return 1;
    } catch (const std::invalid_argument& error) {
      std::cerr << error.what() << '\n';
      return 2;
    }
  }
}
