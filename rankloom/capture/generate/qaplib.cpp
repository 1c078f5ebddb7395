// SPDX-License-Identifier: Apache-2.0
// capture/generate: flows of QAPLIB, the library of quadratic assignment problems, whose distances are those of a mesh.
// With the machine "mesh:3x4=1" for nug12 and so on, and the model hopbytes, the cost is that of the literature.
#include <string>
#include <utility>
#include <vector>

#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/support.hpp"

namespace rankloom {

namespace {

struct Flows {
  std::string_view name;
  std::uint32_t facilities;
  std::string_view upper;  // above the diagonal, row by row: one digit each, a = 10
};

// Nugent, Vollmann, Ruml, An experimental comparison of techniques for the assignment of facilities to locations, 1968;
// Skorin-Kapov, Tabu search applied to the quadratic assignment problem, 1990.
constexpr Flows instances[] = {
    {"nug12", 12, "524100621113022204500000055222522a0055a000511511540a523300500aa502"},
    {"nug15", 15,
     "a05101222204001322232020a50a2025452255511500210250355510305522150025a6015551052a05000a5a020400550503"
     "30a24"},
    {"nug20", 20,
     "05052a31555005440013a515124250aa305a520524450005100500105210a220215255565252051115251521600a02010150"
     "005a2251210a11aa20a2522a2035505000255051005525251a02252a5011252210005551550305aa0020520116"},
    {"nug25", 25,
     "3200a505200205301a02111040a0022150000016102251a34555140404032552003100022062525111224202252000000002"
     "0020502102aa5a600a2a15525020113500245a605550550a2520300040505225560155523502aa1501210000664532220421"
     "0621500152103a0040042545010500051100220250525200063500505515212a5211565540000505445024410210a1000002"},
    {"nug30", 30,
     "32002a50525002056301a0a21110140a40022105000020161012251a53405551410404063255210031020002206025251111"
     "2240202255520000200002100205102102112214aa25505000a00040a11aa5aa600a21a155235020131350002452a6055250"
     "5502a21520302004052052252556015505235052aa152001210200066045322a55200002045a100001204221062155001552"
     "1053a00420042554510105020051100302202050525a2200065350051512aa4005000055105212aa52131565534010005005"
     "0445025044102255010010a10000000a222"},
    {"sko42", 42,
     "2a54156502001250502550a014200020550aa000210510002105a010aa02110035a0502113a50a014015a001050325150111"
     "5122011526110a5a55210100a21255550226550521001232a54002a305161100600222350222055501504221562205505151"
     "00010001001255121a000250a545525054aa2025a04564021212202325000011610152002202004002532252225025220513"
     "50542a5022120061500005aa351200a1612532555a0012400503250015201520a52502120205251401a35505200050051000"
     "a24500001a51155215a535515500030560521152100a55225110100a2515522001205245a40a2a1254106012020005525051"
     "5150552a5520552040000022005205105020005110350215156035050055a5500226a02022a2051063455100032a45525112"
     "500a321a31202aa521210a2505040202044110515a1005aa45255252a02024025522250202020520215a6152002a02005352"
     "0aa30210140541022110403552a501500a250000120230503202a0123250a20552100000036505215021054a510a50320520"
     "20a3002412002206250002200210a001a5202100025035aa5012a00104215"},
};

class Qaplib : public Generator {
 public:
  void describe(OptionList& options) override {
    std::vector<std::pair<std::string, const Flows*>> names;
    names.reserve(std::size(instances));
    for (const Flows& flows : instances) names.emplace_back(flows.name, &flows);
    options.choice("name", flows_, std::move(names), "the instance; its number is that of its ranks");
  }

  Result<Profile> generate(std::uint64_t) const override {
    CommGraphBuilder builder(flows_->facilities);
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < flows_->facilities; ++i) {
      for (std::uint32_t j = i + 1; j < flows_->facilities; ++j) {
        const char digit = flows_->upper[at++];
        const int flow = digit == 'a' ? 10 : digit - '0';
        if (flow == 0) continue;
        builder.add(Rank{i}, Rank{j}, flow);
        builder.add(Rank{j}, Rank{i}, flow);
      }
    }
    return point_to_point_profile(std::move(builder).build(false));
  }

 private:
  const Flows* flows_ = &instances[0];
};

}  // namespace

std::unique_ptr<Generator> make_qaplib() {
  return std::make_unique<Qaplib>();
}

}  // namespace rankloom
