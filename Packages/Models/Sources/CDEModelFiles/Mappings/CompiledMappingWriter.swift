@_spi(CDE) internal import CDEManagedModel
internal import CDEPredicates
internal import Foundation

/// Writes a mapping model as the archive that Core Data's compiler makes of it: the same classes and keys.
struct CompiledMappingWriter {
  private var archive = ArchiveBuilder(keyPaths: .functions)
  private let file: String

  /// The bytes of a `.cdm`. Equal mappings give equal bytes.
  ///
  /// - Parameters:
  ///   - mappings: The mappings of entities.
  ///   - file: The path of the mapping model, for errors.
  static func data(of mappings: [NSEntityMapping], file: String) throws(ModelFileError) -> Data {
    var writer = Self(file: file)
    return try writer.write(mappings)
  }

  private init(file: String) { self.file = file }

  private mutating func write(_ mappings: [NSEntityMapping]) throws(ModelFileError) -> Data {
    let root = archive.reserve()
    var members: [PropertyListNode] = []
    for mapping in mappings { members.append(try write(mapping)) }
    let names = mappings.map { $0.name ?? "" }
    let fields: ArchiveBuilder.Fields = [
      "NSEntityMappings": archive.array(members),
      "NSEntityMappingsByName": archive.dictionary(Array(zip(names, members))),
    ]
    archive.set(root, "NSMappingModel", fields)
    return archive.data(root: root)
  }

  private mutating func write(_ mapping: NSEntityMapping) throws(ModelFileError) -> PropertyListNode {
    let name = mapping.name ?? ""
    let place = archive.reserve()
    var fields: ArchiveBuilder.Fields = [
      "NSMappingName": archive.string(mapping.name),
      "NSMappingType": .integer(Int64(mapping.mappingType.rawValue)),
      "NSSourceEntityName": archive.string(mapping.sourceEntityName),
      "NSDestinationEntityName": archive.string(mapping.destinationEntityName),
      "NSSourceEntityVersionHash": archive.data(mapping.sourceEntityVersionHash),
      "NSDestinationEntityVersionHash": archive.data(mapping.destinationEntityVersionHash),
      "NSEntityMigrationPolicyClassName": archive.string(mapping.entityMigrationPolicyClassName),
      "NSUserInfo": archive.userInfo(mapping.userInfo),
    ]
    fields["NSSourceExpression"] = try request(mapping.sourceExpression, name)
    fields["NSAttributeMappings"] = try properties(mapping.attributeMappings, name)
    fields["NSRelationshipMappings"] = try properties(mapping.relationshipMappings, name)
    archive.set(place, "NSEntityMapping", fields)
    return .reference(place)
  }

  private mutating func properties(
    _ properties: [NSPropertyMapping]?, _ owner: String
  ) throws(ModelFileError) -> PropertyListNode {
    guard let properties else { return ArchiveBuilder.null }
    var members: [PropertyListNode] = []
    for property in properties {
      let place = archive.reserve()
      let fields: ArchiveBuilder.Fields = [
        "NSDestinationPropertyName": archive.string(property.name),
        "NSValueExpression": try expression(property.valueExpression, "\(owner).\(property.name ?? "")"),
        "NSPropertyTransforms": ArchiveBuilder.null, "NSUserInfo": archive.userInfo(property.userInfo),
      ]
      archive.set(place, "NSPropertyMapping", fields)
      members.append(.reference(place))
    }
    return archive.array(members)
  }

  private mutating func expression(
    _ expression: TreeExpression?, _ what: String
  ) throws(ModelFileError) -> PropertyListNode {
    guard let expression else { return ArchiveBuilder.null }
    do throws(PredicateTreeError) { return try archive.expression(try expression.expressionTree()) } catch {
      throw ModelFileError(
        .unsupportedExpression, "The expression of \(what) can't be compiled: \(error.message).", file: file,
        element: what, cause: error)
    }
  }

  /// The expression that fetches the old objects.
  ///
  /// The names of its three fields are not known from a file of Core Data's compiler. The reader needs no names.
  private mutating func request(
    _ source: TreeExpression?, _ what: String
  ) throws(ModelFileError) -> PropertyListNode {
    guard source != nil else { return ArchiveBuilder.null }
    let request = try expression(source, what)
    let context = try expression(TreeExpression(.variableKeyPath("manager", ["sourceContext"])), what)
    return archive.object(
      "NSFetchRequestExpression",
      [
        "NSExpressionType": .integer(50), "NSFetchRequest": request, "NSContext": context,
        "NSCountOnly": .bool(false),
      ])
  }
}
