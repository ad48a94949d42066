internal import SwiftSyntax

// `@NSManaged` variables become computed ones.
extension RewritingVisitor {
  /// Gives a managed variable its accessors.
  ///
  /// - Returns: whether the declaration was one, and is done.
  func rewriteManagedProperty(_ node: VariableDeclSyntax) -> Bool {
    guard node.attributes.first(named: "NSManaged") != nil else { return false }
    removeAttributes(node.attributes)
    var modifiers: [String] = []
    for modifier in node.modifiers {
      // Both mean something for a stored variable only.
      if ["weak", "dynamic"].contains(modifier.name.text) {
        edits.remove(modifier, in: bytes)
      } else {
        modifiers.append(modifier.trimmedDescription)
      }
    }
    let start = (modifiers + [node.bindingSpecifier.text]).joined(separator: " ")
    var types: [String] = []
    var type = ""
    for binding in node.bindings.reversed() {
      if let written = binding.typeAnnotation?.type.trimmedDescription { type = written }
      types.append(type)
    }
    types.reverse()
    for (binding, type) in zip(node.bindings, types) {
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text, !type.isEmpty,
        binding.accessorBlock == nil, binding.initializer == nil
      else {
        report(
          .error, at: binding,
          "An @NSManaged variable has a name and a type, and neither a value nor accessors. Write it as "
            + "`@NSManaged var name: Type`.")
        return true
      }
      var text = binding.typeAnnotation == nil ? ": \(type)" : ""
      text += accessors(name, key: node.attributes.objectiveCName ?? bare(name), type: type)
      if let comma = binding.trailingComma {
        edits.replace(comma, with: "\(text); \(start)")
      } else {
        edits.insert(text, at: binding.contentRange.upperBound)
      }
    }
    return true
  }

  private func accessors(_ name: String, key: String, type: String) -> String {
    let value = type.hasSuffix("!") ? "\(type.dropLast())?" : type
    let rest = key.dropFirst("primitive".count)
    if key.hasPrefix("primitive"), rest.first?.isUppercase == true {
      return
        " { get { _cdPrimitiveValue(\"\(rest)\", as: (\(value)).self) } set { _cdSetPrimitiveValue(\"\(rest)\", newValue) } }"
    }
    let place = "_CDName(\"\(key)\", \(NameHash.literal(of: key)))"
    return " { get { _cdGet(\(place), as: (\(value)).self) } set { _cdSet(\(place), newValue) } }"
  }

  /// A name without the backquotes that make a keyword a name.
  private func bare(_ name: String) -> String {
    name.hasPrefix("`") ? String(name.dropFirst().dropLast()) : name
  }

  func removeAttributes(_ list: AttributeListSyntax) {
    for attribute in list {
      guard let attribute = attribute.as(AttributeSyntax.self),
        ObjectiveCAttributes.all.contains(attribute.attributeName.trimmedDescription)
      else { continue }
      edits.remove(attribute, in: bytes)
    }
  }
}

/// The number by which an accessor names its property.
///
/// CDEModelRuntime computes it from the model's names in the same way.
enum NameHash {
  /// FNV-1a over the name's UTF-8.
  static func value(of name: String) -> UInt64 {
    name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  static func literal(of name: String) -> String { "0x\(String(value(of: name), radix: 16))" }
}
