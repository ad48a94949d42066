public import CDEManagedModel

// Objects of a class that is known at run time only.
//
// Swift calls an initialiser of such a class only if it is `required`, and Core Data's is not: applications write
// `override init(entity:insertInto:)`. A convenience initialiser calls the override, and its allocating entry point takes
// the class as an argument.
extension NSManagedObject {
  convenience init(making entity: NSEntityDescription, in context: NSManagedObjectContext?) {
    self.init(entity: entity, insertInto: context)
  }

  /// The allocating entry point of the initialiser above, whose class is the one the function is called on.
  @_silgen_name(
    "$s15CDEModelRuntime15NSManagedObjectC6making2inAC15CDEManagedModel19NSEntityDescriptionC_AA0cD7ContextCSgtcfC"
  )
  private static func allocate(
    making entity: consuming NSEntityDescription, in context: consuming NSManagedObjectContext?
  ) -> NSManagedObject

  /// Makes an object of this class by its own `init(entity:insertInto:)`.
  static func make(_ entity: NSEntityDescription, in context: NSManagedObjectContext?) -> NSManagedObject {
    allocate(making: entity, in: context)
  }
}

/// Initialisers for code that is generic over managed classes.
///
/// `Item(context:)` of a type parameter needs an initialiser that is required, or one of a protocol, as these are.
public protocol _CDManagedInitializers {}

extension NSManagedObject: _CDManagedInitializers {}

extension _CDManagedInitializers where Self: NSManagedObject {
  /// Makes an object of an entity, and inserts it into a context if there is one.
  ///
  /// - Parameters:
  ///   - entity: an entity of a model in use.
  ///   - context: the context to insert into, on whose isolation the call runs.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    self = unsafeDowncast(Self.make(entity, in: context), to: Self.self)
  }

  /// Makes an object of this class's entity in the context's model, and inserts it.
  ///
  /// A class's own initialiser of this form is not called.
  ///
  /// - Precondition: the model has an entity for the class.
  public init(context: NSManagedObjectContext) {
    self = unsafeDowncast(Self.make(Self.entity(of: Self.self, in: context), in: context), to: Self.self)
  }
}
