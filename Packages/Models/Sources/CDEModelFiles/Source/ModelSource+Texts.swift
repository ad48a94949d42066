extension ModelSource {
  /// Warnings about defaults, bounds and patterns that are none for the type of their attribute, for example after the type was changed.
  func textWarnings() -> [Warning] {
    let owners = entities.map { ($0.name, $0.attributes) } + composites.map { ($0.name, $0.attributes) }
    return owners.flatMap { owner, attributes in
      attributes.flatMap { attribute in
        AttributeText.mistakes(in: attribute).map { mistake in
          Warning(
            file: file, line: attribute.common.line,
            text: "\(owner).\(attribute.name) \(mistake) Correct or remove it.")
        }
      }
    }
  }
}
