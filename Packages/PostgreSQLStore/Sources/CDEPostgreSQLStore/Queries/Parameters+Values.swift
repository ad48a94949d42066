#if PostgreSQL
  internal import CDEStore

  extension Parameters {
    /// The values of a compiled query, each in the server's type for its kind.
    init(_ values: [StoreValue]) {
      self.init()
      for value in values {
        switch value {
        // Only the limit of a range is bound as null.
        case .null: appendNull(.integer)
        case .integer(let number), .reference(_, let number): append(number)
        case .real(let number): append(number)
        case .text(let text): append(text)
        case .blob(let data): append(bytes: Array(data))
        }
      }
    }
  }
#endif
