/** A store on top of another, which answers every call: a layer that adds to some of them replaces those. */

import type { Store } from "./ports.ts";

export class StoreLayer implements Store {
  readonly #below: Store;

  constructor(below: Store) {
    this.#below = below;
  }

  get operators(): Store["operators"] {
    return this.#below.operators;
  }

  get audit(): Store["audit"] {
    return this.#below.audit;
  }

  readFact: Store["readFact"] = (...given) => this.#below.readFact(...given);
  readUser: Store["readUser"] = (...given) => this.#below.readUser(...given);
  readStamp: Store["readStamp"] = (...given) => this.#below.readStamp(...given);
  readLife: Store["readLife"] = (...given) => this.#below.readLife(...given);
  listPlaces: Store["listPlaces"] = (...given) => this.#below.listPlaces(...given);
  describeUser: Store["describeUser"] = (...given) => this.#below.describeUser(...given);
  readFreeLabels: Store["readFreeLabels"] = (...given) => this.#below.readFreeLabels(...given);
  write: Store["write"] = (...given) => this.#below.write(...given);
  saveCodes: Store["saveCodes"] = (...given) => this.#below.saveCodes(...given);
  readVectors: Store["readVectors"] = (...given) => this.#below.readVectors(...given);
  saveVectors: Store["saveVectors"] = (...given) => this.#below.saveVectors(...given);
  forgetUser: Store["forgetUser"] = (...given) => this.#below.forgetUser(...given);
  walkUsers: Store["walkUsers"] = (...given) => this.#below.walkUsers(...given);
  listUsers: Store["listUsers"] = (...given) => this.#below.listUsers(...given);
  readLabels: Store["readLabels"] = (...given) => this.#below.readLabels(...given);
  addLabel: Store["addLabel"] = (...given) => this.#below.addLabel(...given);
  changeLabel: Store["changeLabel"] = (...given) => this.#below.changeLabel(...given);
  removeLabel: Store["removeLabel"] = (...given) => this.#below.removeLabel(...given);
  readStrict: Store["readStrict"] = (...given) => this.#below.readStrict(...given);
  changeStrict: Store["changeStrict"] = (...given) => this.#below.changeStrict(...given);
  readProjects: Store["readProjects"] = (...given) => this.#below.readProjects(...given);
  changeProject: Store["changeProject"] = (...given) => this.#below.changeProject(...given);
  removeProject: Store["removeProject"] = (...given) => this.#below.removeProject(...given);
  findKey: Store["findKey"] = (...given) => this.#below.findKey(...given);
  readKey: Store["readKey"] = (...given) => this.#below.readKey(...given);
  listKeys: Store["listKeys"] = (...given) => this.#below.listKeys(...given);
  listAccounts: Store["listAccounts"] = () => this.#below.listAccounts();
  addKey: Store["addKey"] = (...given) => this.#below.addKey(...given);
  readAccount: Store["readAccount"] = (...given) => this.#below.readAccount(...given);
  changeAccount: Store["changeAccount"] = (...given) => this.#below.changeAccount(...given);
  changeKey: Store["changeKey"] = (...given) => this.#below.changeKey(...given);
  changeGrant: Store["changeGrant"] = (...given) => this.#below.changeGrant(...given);
  removeGrants: Store["removeGrants"] = (...given) => this.#below.removeGrants(...given);
  endGrants: Store["endGrants"] = (...given) => this.#below.endGrants(...given);
  touchKeys: Store["touchKeys"] = (...given) => this.#below.touchKeys(...given);
  keysVersion: Store["keysVersion"] = (...given) => this.#below.keysVersion(...given);
  readUsage: Store["readUsage"] = (...given) => this.#below.readUsage(...given);
  readDailyUsage: Store["readDailyUsage"] = (...given) => this.#below.readDailyUsage(...given);
  raiseUsage: Store["raiseUsage"] = (...given) => this.#below.raiseUsage(...given);
  addKeyRequest: Store["addKeyRequest"] = (...given) => this.#below.addKeyRequest(...given);
  listKeyRequests: Store["listKeyRequests"] = () => this.#below.listKeyRequests();
  decideKeyRequest: Store["decideKeyRequest"] = (...given) => this.#below.decideKeyRequest(...given);
  deleteKeyRequest: Store["deleteKeyRequest"] = (...given) => this.#below.deleteKeyRequest(...given);
  probe: Store["probe"] = () => this.#below.probe();
  statistics: Store["statistics"] = () => this.#below.statistics();
  sweep: Store["sweep"] = (...given) => this.#below.sweep(...given);
  endFacts: Store["endFacts"] = (...given) => this.#below.endFacts(...given);
  nextEndMs: Store["nextEndMs"] = () => this.#below.nextEndMs();
  findDamage: Store["findDamage"] = () => this.#below.findDamage();
  close: Store["close"] = () => this.#below.close();
}
