import Testing

@Suite("Observed models")
struct ObservedModelTests {
  private let expansion = Expansion.model(
    """
    var title: String
    @Attribute(.transient) var cache: Int?
    @Relationship(persistentName: "t", inverse: "items", deleteRule: .nullify) var tags: Set<Tag>
    """, arguments: "(observation: PersistentModelObservationMode.mainActor)")

  @Test("Every getter records the access before it reads; setters publish nothing")
  func accessors() {
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        get {
          __cdAccess(\\Item.title)
          return _cdRequired(Item.__CDOrdinal.title)
        }
        set {
          _cdSetValue(Item.__CDOrdinal.title, newValue)
        }
        """), "\(expansion.text)")
    #expect(expansion.contains("__cdAccess(\\Item.cache)\nreturn _cdValue(Item.__CDOrdinal.cache)"))
    #expect(expansion.contains("__cdAccess(\\Item.tags)\nreturn _cdToManySet(Item.__CDOrdinal.tags)"))
    #expect(
      expansion.contains(
        """
        nonisolated var tagsCount: Swift.Int {
          __cdAccess(\\Item.tagsCount)
          return _cdToManyCount(Item.__CDOrdinal.tags)
        }
        """))
  }

  @Test("The field map leaves out transient attributes and goes by persistent name")
  func fieldMap() {
    #expect(
      expansion.contains(
        """
        var fields: [Swift.String: CDEObservationFieldSet] = [:]
        fields["title"] = CDEObservationFieldSet(rawValues: [0])
        fields["t"] = CDEObservationFieldSet(rawValues: [2])
        return CDEObservationFieldMap(fieldsByCoreDataKey: fields)
        """), "\(expansion.text)")
    let empty = Expansion.model("", arguments: "(observation: .mainActor)")
    #expect(empty.contains("CDEObservationFieldMap(fieldsByCoreDataKey: [:])"))
  }

  @Test("A to-many field stands for the relationship and its count")
  func fanOut() {
    #expect(
      expansion.contains(
        """
        if fieldSet.contains(rawValue: 2) {
          paths.append("tags")
          paths.append("tagsCount")
        }
        return paths
        """))
    #expect(
      expansion.contains(
        """
        if fieldSet.contains(rawValue: 2) {
          paths.append(\\.tags)
          paths.append(\\.tagsCount)
        }
        """))
    #expect(
      expansion.contains(
        """
        if fieldSet?.contains(rawValue: 2) != false {
          registrar.withMutation(of: self, keyPath: \\Item.tags) {}
          registrar.withMutation(of: self, keyPath: \\Item.tagsCount) {}
        }
        """))
  }

  @Test("The conformances are those of observation besides the model's")
  func conformances() {
    for name in [
      "PersistentEntity", "CDRuntimeSchemaProviding", "CDEObservable",
      "CDEObservationFieldMapProviding", "CDEObservationInvalidationDispatching",
    ] {
      #expect(expansion.text.contains("extension Item: nonisolated \(name) {"), "\(name)")
    }
  }
}
