#if PostgreSQL
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit

  extension QueryMaker {
    /// Writes the same random rows to all stores.
    mutating func fill(_ stores: any Store...) throws {
      var drafts: [(entity: String, draft: Draft)] = []
      func text() -> Draft.Value? { chance(25) ? nil : .text(pick(QueryMaker.texts)) }
      func number() -> Draft.Value? { chance(25) ? nil : .integer(integer()) }
      for key in 1...Int64(8) {
        var draft = Draft(key: key)
        draft.values = ["name": text(), "code": .integer(key - 4)].compactMapValues { $0 }
        if chance(50) { draft.references["parent"] = .random(in: 1...8, using: &random) }
        drafts.append(("Category", draft))
      }
      for key in 1...Int64(60) {
        var draft = Draft(key: key)
        draft.values =
          ["small": number(), "big": number(), "title": text(), "place.title": text()].compactMapValues { $0 }
        if chance(75) {
          draft.references["category"] = .random(in: 1...8, using: &random)
          draft.orders["category"] = key
        }
        drafts.append((chance(30) ? "SpecialItem" : "Item", draft))
      }
      for key in 1...Int64(6) {
        drafts.append(("Tag", Draft(key: key, values: ["name": text()].compactMapValues { $0 })))
      }
      var links: [(entity: String, property: String, owner: Int64, member: Int64)] = []
      for tag in 1...Int64(6) {
        for item in 1...Int64(60) where chance(20) { links.append(("Tag", "items", tag, item)) }
        for other in tag...6 where chance(25) { links.append(("Tag", "related", tag, other)) }
      }
      for item in 1...Int64(60) where chance(20) {
        links.append(("Category", "featured", .random(in: 1...8, using: &random), item))
      }
      func commit(_ store: some Store) throws {
        try store.commit {
          $0.inserted = drafts.map { store.batch($0.entity, [$0.draft]) }
          $0.links = links.map {
            LinkChange(
              kind: .add, entity: store.index($0.entity), slot: store.slot($0.entity, $0.property),
              owner: $0.owner,
              member: $0.member)
          }
        }
      }
      for store in stores { try commit(store) }
    }
  }
#endif
