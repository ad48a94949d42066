@_spi(CDE) public import CDEManagedModel
internal import CDEPredicates
internal import Foundation

/// Makes models from classes.
public enum CDRuntimeModelBuilder {
  /// The model of these classes, with one entity for each, in order. The same list gives the same model
  /// object. May be called from any thread.
  ///
  /// - Parameters:
  ///   - types: the classes.
  ///   - compositions: how attributes of composition storage are stored. A store made with one layout can't
  ///     be opened with the other.
  /// - Throws: `CDRuntimeModelBuilderError`.
  public static func makeModel(
    _ types: [any CDRuntimeSchemaProviding.Type], compositions: CDRuntimeCompositionLayout = .dictionary
  ) throws -> NSManagedObjectModel {
    try makeModel(schemas: types.map { ($0, $0.__cdRuntimeEntitySchema) }, compositions: compositions)
  }

  /// The model of the listed classes. The same as with an array of them.
  public static func makeModel(
    _ types: any CDRuntimeSchemaProviding.Type..., compositions: CDRuntimeCompositionLayout = .dictionary
  ) throws -> NSManagedObjectModel {
    try makeModel(types, compositions: compositions)
  }

  static func makeModel(
    schemas: [RuntimeModelBuilder.Source], compositions: CDRuntimeCompositionLayout
  ) throws -> NSManagedObjectModel {
    try RuntimeModelBuilder.makeModel(schemas: schemas, compositions: compositions) { format, arguments in
      NSPredicate(format: format, argumentArray: arguments)
    }
  }
}

extension NSManagedObjectModel {
  /// The model of classes that have their own schemas; see ``CDRuntimeModelBuilder``.
  public static func makeRuntimeModel(
    _ types: [any CDRuntimeSchemaProviding.Type], compositions: CDRuntimeCompositionLayout = .dictionary
  ) throws -> NSManagedObjectModel {
    try CDRuntimeModelBuilder.makeModel(types, compositions: compositions)
  }

  /// The model of listed classes that have their own schemas; see ``CDRuntimeModelBuilder``.
  public static func makeRuntimeModel(
    _ types: any CDRuntimeSchemaProviding.Type..., compositions: CDRuntimeCompositionLayout = .dictionary
  ) throws -> NSManagedObjectModel {
    try CDRuntimeModelBuilder.makeModel(types, compositions: compositions)
  }
}
