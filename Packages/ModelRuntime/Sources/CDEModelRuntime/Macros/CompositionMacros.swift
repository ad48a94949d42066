internal import CDEManagedModel

/// Makes a struct a value for attributes in ``AttributeStorageMethod/composition`` storage.
///
/// The struct's stored properties must be `var`s of primitive types or their optionals. Decoding calls its
/// memberwise initialiser. A stored value without a field that is not optional is decoded as nil.
@attached(
  member, names: named(__cdRuntimeCompositionFields), named(__cdDecodeComposition),
  named(__cdEncodeComposition),
  named(__cdPredicateKey), named(Paths), named(PathRoot), named(path), named(__cdFieldTable),
  named(__cdMakeFieldTable))
@attached(
  extension, conformances: CDCompositionValueCodable, CoreDataPathDSLProviding,
  CDRuntimeCompositionSchemaProviding)
public macro Composition() = #externalMacro(module: "CDEMacros", type: "CompositionMacro")

/// Sets options of a field of a ``Composition()``.
///
/// - Parameter persistentName: The field's name in the store and in predicates; by default the property's
///   name. It must be a literal.
@attached(peer)
public macro CompositionField(persistentName: String? = nil) =
  #externalMacro(module: "CDEMacros", type: "CompositionFieldMacro")
