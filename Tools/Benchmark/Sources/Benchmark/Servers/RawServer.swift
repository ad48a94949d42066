#if PostgreSQL
  import Foundation
  import SystemLibPQ

  /// libpq through its C interface, used as well as one can: prepared statements, binary values, arrays of many rows.
  final class RawServer: @unchecked Sendable {
    // Guard: each row, and each of its writers, has a connection of its own.
    private let handle: OpaquePointer
    /// The last known versions of the rows that ``change(key:)`` changed.
    var versions: [Int64: Int64] = [:]

    static let blockSize = 5_000
    static let columns = "id, version, title, count, score, createdat, note, uuid, category"

    /// - Parameter schema: made if it is missing.
    init(_ url: String, schema: String = "raw") {
      guard let handle = PQconnectdb(url), PQstatus(handle) == CONNECTION_OK else {
        fatalError("The server can't be reached.")
      }
      self.handle = handle
      PQsetNoticeProcessor(handle, { _, _ in }, nil)
      execute("CREATE SCHEMA IF NOT EXISTS \(schema); SET search_path TO \(schema)")
    }

    deinit { PQfinish(handle) }

    /// The columns, index and types that this library's table has, without the number of the entity.
    func makeTables() {
      execute(
        """
        DROP TABLE IF EXISTS item;
        CREATE TABLE item(id bigint PRIMARY KEY, version bigint NOT NULL, title text COLLATE "C", count bigint,
          score double precision, createdat double precision, note text COLLATE "C", uuid uuid, category bigint);
        CREATE INDEX item_category ON item(category)
        """)
    }

    func execute(_ sql: String) { clear(PQexec(handle, sql), sql) }

    func prepare(_ name: String, _ sql: String) { clear(PQprepare(handle, name, sql, 0, nil), sql) }

    /// Runs a prepared statement and gives its binary rows.
    @inline(__always)
    func run<Result>(_ name: String, _ parameters: [[UInt8]], _ body: (RawRows) -> Result) -> Result {
      var pointers: [UnsafePointer<CChar>?] = []
      let lengths = parameters.map { Int32($0.count) }
      let formats = [Int32](repeating: 1, count: parameters.count)
      func descend(_ index: Int) -> OpaquePointer? {
        if index == parameters.count {
          return PQexecPrepared(handle, name, Int32(parameters.count), pointers, lengths, formats, 1)
        }
        return parameters[index].withUnsafeBytes {
          pointers.append($0.bindMemory(to: CChar.self).baseAddress)
          return descend(index + 1)
        }
      }
      let result = descend(0)
      let status = PQresultStatus(result)
      guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
        fatalError("libpq: \(String(cString: PQerrorMessage(handle))) in \(name)")
      }
      defer { PQclear(result) }
      return body(RawRows(result: result!))
    }

    private func clear(_ result: OpaquePointer?, _ sql: String) {
      let status = PQresultStatus(result)
      guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
        fatalError("libpq: \(String(cString: PQerrorMessage(handle))) in \(sql)")
      }
      PQclear(result)
    }

    func prepareInsert() {
      prepare(
        "insert",
        """
        INSERT INTO item (\(Self.columns)) SELECT * FROM unnest($1::int8[], $2::int8[], $3::text[], $4::int8[], \
        $5::float8[], $6::float8[], $7::text[], $8::uuid[], $9::int8[])
        """)
    }

    /// Inserts rows by the prepared statement, in blocks.
    func insert(_ items: [ItemValues]) {
      for start in stride(from: 0, to: items.count, by: Self.blockSize) {
        let block = items[start..<min(start + Self.blockSize, items.count)]
        run(
          "insert",
          [
            .array(20, block) { $0.append(bigEndian: $1.id) },
            .array(20, block) { bytes, _ in bytes.append(bigEndian: Int64(1)) },
            .array(25, block) { $0.append(text: $1.title) },
            .array(20, block) { $0.append(bigEndian: Int64($1.count)) },
            .array(701, block) { $0.append(bigEndian: $1.score.bitPattern) },
            .array(701, block) {
              $0.append(bigEndian: $1.createdAt.timeIntervalSinceReferenceDate.bitPattern)
            },
            .array(25, block) { if let note = $1.note { $0.append(text: note) } },
            .array(2950, block) { bytes, item in
              withUnsafeBytes(of: item.uuid.uuid) { bytes.append(contentsOf: $0) }
            },
            .array(20, block) { if let category = $1.category { $0.append(bigEndian: category) } },
          ]
        ) { _ in }
      }
    }
  }

  /// Rows of a result in the binary format.
  struct RawRows {
    fileprivate let result: OpaquePointer

    @inline(__always)
    func word(_ row: Int32, _ column: Int32) -> UInt64 {
      UInt64(bigEndian: UnsafeRawPointer(PQgetvalue(result, row, column)).loadUnaligned(as: UInt64.self))
    }

    @inline(__always)
    func text(_ row: Int32, _ column: Int32) -> String {
      let start = UnsafeRawPointer(PQgetvalue(result, row, column)!).assumingMemoryBound(to: UInt8.self)
      return String(
        decoding: UnsafeBufferPointer(start: start, count: Int(PQgetlength(result, row, column))),
        as: UTF8.self)
    }

    @inline(__always)
    func isNull(_ row: Int32, _ column: Int32) -> Bool { PQgetisnull(result, row, column) == 1 }

    var count: Int32 { PQntuples(result) }

    @inline(__always)
    func item(_ row: Int32) -> ItemValues {
      ItemValues(
        id: Int64(bitPattern: word(row, 0)), title: text(row, 2), count: Int(Int64(bitPattern: word(row, 3))),
        score: Double(bitPattern: word(row, 4)),
        createdAt: Date(timeIntervalSinceReferenceDate: Double(bitPattern: word(row, 5))),
        note: isNull(row, 6) ? nil : text(row, 6),
        uuid: UUID(uuid: UnsafeRawPointer(PQgetvalue(result, row, 7)).loadUnaligned(as: uuid_t.self)),
        category: isNull(row, 8) ? nil : Int64(bitPattern: word(row, 8)))
    }
  }

  extension [UInt8] {
    static func word(_ value: Int64) -> [UInt8] { Swift.withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    /// An array of a type's elements in the binary format. An element without bytes is null.
    @inline(__always)
    fileprivate static func array(
      _ type: UInt32, _ items: ArraySlice<ItemValues>, _ append: (inout [UInt8], ItemValues) -> Void
    ) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(20 + items.count * 40)
      for word in [1, 1, type, UInt32(items.count), 1] { bytes.append(bigEndian: word) }
      for item in items {
        let start = bytes.count
        bytes.append(bigEndian: UInt32(0))
        append(&bytes, item)
        let length = bytes.count - start - 4
        let head = length == 0 ? UInt32.max : UInt32(length)
        bytes.withUnsafeMutableBytes {
          $0.storeBytes(of: head.bigEndian, toByteOffset: start, as: UInt32.self)
        }
      }
      return bytes
    }

    @inline(__always)
    fileprivate mutating func append<Word: FixedWidthInteger>(bigEndian word: Word) {
      Swift.withUnsafeBytes(of: word.bigEndian) { append(contentsOf: $0) }
    }

    @inline(__always)
    fileprivate mutating func append(text: String) {
      var text = text
      text.withUTF8 { append(contentsOf: $0) }
    }
  }
#endif
