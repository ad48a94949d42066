@_spi(CDE) internal import CDEManagedModel
internal import CDEPredicates
internal import Foundation

/// Makes mappings of a compiled mapping model, a `.cdm`.
struct CompiledMappingReader {
  private let archive: ModelArchive
  private var expressions: PredicateArchiveReader
  private var propertyCount = 0

  init(_ data: Data, file: String) throws(ModelFileError) {
    archive = try ModelArchive(data, file: file)
    expressions = PredicateArchiveReader(archive: archive)
  }

  consuming func mappings() throws(ModelFileError) -> [NSEntityMapping] {
    guard let root = archive.fields(archive.root), archive.className(root) == "NSMappingModel" else {
      throw ModelFileError(.unsupportedFormat, "The archive contains no mapping model.", file: archive.file)
    }
    var result: [NSEntityMapping] = []
    for index in archive.members(root[.entityMappings]) {
      guard let fields = archive.fields(index), archive.className(fields) == "NSEntityMapping",
        result.count < archive.count
      else { throw archive.damaged("a mapping of an entity is none") }
      result.append(try mapping(fields))
    }
    if archive.isExhausted { throw archive.damaged("its objects share too much") }
    return result
  }

  private mutating func mapping(_ fields: ModelArchive.Fields) throws(ModelFileError) -> NSEntityMapping {
    let result = NSEntityMapping()
    result.sourceEntityName = archive.text(fields[.sourceEntityName])
    result.destinationEntityName = archive.text(fields[.mappedDestinationName])
    result.name =
      archive.text(fields[.mappingName]) ?? result.destinationEntityName ?? result.sourceEntityName
    guard let name = result.name else { throw archive.damaged("the mapping of an entity has no name") }
    let number = archive.integer(fields[.mappingType]) ?? 0
    guard let type = UInt(exactly: number).flatMap({ NSEntityMappingType(rawValue: $0) }) else {
      throw ModelFileError(
        .unsupportedFormat, "The mapping \(name) has the type \(number), which is unknown.",
        file: archive.file, element: name)
    }
    result.mappingType = type
    result.sourceEntityVersionHash = archive.data(fields[.sourceEntityVersionHash])
    result.destinationEntityVersionHash = archive.data(fields[.destinationEntityVersionHash])
    result.sourceExpression = expression(fields[.sourceExpression])
    result.attributeMappings = try properties(fields[.attributeMappings], name)
    result.relationshipMappings = try properties(fields[.relationshipMappings], name)
    result.entityMigrationPolicyClassName = archive.text(fields[.entityMigrationPolicyClassName])
    result.userInfo = archive.userInfo(fields)
    return result
  }

  private mutating func properties(
    _ node: PropertyListNode?, _ owner: String
  ) throws(ModelFileError) -> [NSPropertyMapping]? {
    guard archive.reference(node) != nil else { return nil }
    var result: [NSPropertyMapping] = []
    for index in archive.members(node) {
      // Each mapping of a property has an object of its own.
      propertyCount += 1
      guard let fields = archive.fields(index), archive.className(fields) == "NSPropertyMapping",
        propertyCount <= archive.count
      else { throw archive.damaged("\(owner) has a mapping of a property that is none") }
      let mapping = NSPropertyMapping()
      mapping.name = archive.text(fields[.destinationPropertyName])
      mapping.valueExpression = expression(fields[.valueExpression])
      mapping.userInfo = archive.userInfo(fields)
      result.append(mapping)
    }
    return result
  }

  /// The expression that a field refers to; nil for nothing. An expression without a form here has its error.
  private mutating func expression(_ node: PropertyListNode?) -> TreeExpression? {
    guard let fields = archive.fields(node) else { return nil }
    var node = node
    if archive.className(fields) == "NSFetchRequestExpression" {
      // The request is the only call in it; its context is a key path.
      let request = fields.references().first {
        archive.fields($0).map(archive.className) == "NSFunctionExpression"
      }
      node = request.map { .reference($0) }
    }
    do throws(PredicateTreeError) { return TreeExpression(try expressions.expression(node)) } catch {
      return TreeExpression(.failure(error))
    }
  }
}
