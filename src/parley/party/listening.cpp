#include "parley/party/listening.h"

namespace parley::party {

Listening listening_of(const JoinOptions& o, const Participant& participant) {
  using Result = mesh::Probed::Result;
  const std::string& named = participant.me().address;
  const bool by_study = o.listen.empty();
  Listening l{.address = by_study ? named : o.listen};
  l.probed = mesh::try_listen(l.address);
  const std::string host = l.address.substr(0, l.address.rfind(':')), port = named.substr(named.rfind(':'));
  const std::string all_of_them = "--listen 0.0.0.0" + port + " listens at all addresses of this machine";
  const auto object = [&](const std::string& why, const std::string& fix) {
    l.objection = {.what = "cannot listen for peers: " + why,
                   .allowed = "a free address of this machine",
                   .where = l.address,
                   .fix = fix};
  };
  if (l.probed.result == Result::taken)
    object(l.probed.why, "stop what uses it, or choose another with --listen HOST:PORT");
  else if (l.probed.result == Result::forbidden)
    object("this user may not open that port (" + l.probed.why + ")",
           "choose a port of 1024 or more, in the study or with --listen HOST:PORT");
  else if (l.probed.result != Result::open && by_study)
    object("the study names this address for " + participant.me().name + ", and it is not one of this machine's (" +
               l.probed.why + ")",
           "behind NAT, or where the name leads elsewhere, " + all_of_them +
               "; otherwise correct the address in the study: copies may differ in it");
  else if (l.probed.result != Result::open)
    object(l.probed.why, "give --listen HOST:PORT with an address of this machine");
  const bool meant = host == "localhost" || host.starts_with("127.") || host == "[::1]";
  if (l.probed.loopback && !meant)
    l.warning = "the name leads to the loopback of this machine, so no other machine is heard there; " + all_of_them;
  return l;
}

}  // namespace parley::party
