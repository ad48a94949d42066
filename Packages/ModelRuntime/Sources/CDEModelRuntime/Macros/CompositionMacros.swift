internal import CDEManagedModel

/// Makes a struct usable as the value of an attribute in ``AttributeStorageMethod/composition`` storage.
///
/// The struct's stored properties must be `var`s of primitive types or their optionals; it keeps its
/// memberwise initialiser, which decoding calls. A stored value that lacks a field that is not optional reads
/// as nil.
@attached(member, names: arbitrary)
@attached(
  extension, conformances: CDCompositionValueCodable, CoreDataPathDSLProviding,
  CDRuntimeCompositionSchemaProviding)
public macro Composition() = #externalMacro(module: "CDEMacros", type: "CompositionMacro")

/// Says more about a field of a ``Composition()`` than its declaration does.
///
/// - Parameter persistentName: The field's name in the store and in predicates; without it the property's
///   name. It must be a literal.
@attached(peer)
public macro CompositionField(persistentName: String? = nil) =
  #externalMacro(module: "CDEMacros", type: "CompositionFieldMacro")
