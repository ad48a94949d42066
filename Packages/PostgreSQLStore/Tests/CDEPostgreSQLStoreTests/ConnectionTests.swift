#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDEStore
  import Foundation
  import Testing

  @Suite(.needsServer) struct ConnectionTests {
    let schema = TestSchema()

    @Test func `The server reads each kind of parameter as it was written`() throws {
      let connection = try schema.connection()
      var parameters = Parameters()
      parameters.append(Int64.min)
      parameters.append(-0.1)
      parameters.append("naïve 🦆 'quoted'")
      parameters.append(bytes: [0, 255, 10])
      parameters.append(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!)
      parameters.appendNull(.text)
      parameters.beginArray(.boolean)
      parameters.appendElement(true)
      parameters.appendNullElement()
      parameters.appendElement(false)
      parameters.endArray()
      parameters.append([Int64]())
      parameters.beginArray(.text)
      for text in ["a,b", "", "{NULL}"] {
        Array(text.utf8).withUnsafeBytes { parameters.appendElement($0) }
      }
      parameters.endArray()
      let rows = try connection.run(
        "SELECT concat_ws('|', $1, $2, $3, encode($4, 'hex'), $5, $6 IS NULL, $7, $8, $9)", parameters,
        while: "Testing")
      // The server writes the values in its own text form.
      #expect(
        rows.text(0, 0)
          == "-9223372036854775808|-0.1|naïve 🦆 'quoted'|00ff0a|00112233-4455-6677-8899-aabbccddeeff|t|{t,NULL,f}|{}|"
          + #"{"a,b","","{NULL}"}"#)
    }

    @Test func `Values of rows are read in binary form`() throws {
      let rows = try schema.connection().run(
        "SELECT 9007199254740993, 0.1::float8, true, 'ü'::text, '\\x00ff'::bytea, NULL::int8",
        while: "Testing")
      #expect(rows.count == 1)
      #expect(rows.integer(0, 0) == 9_007_199_254_740_993)
      #expect(rows.double(0, 1) == 0.1)
      #expect(rows.boolean(0, 2) == true)
      #expect(rows.text(0, 3) == "ü")
      #expect(Array(rows.bytes(0, 4)) == [0, 255])
      #expect([rows.isNull(0, 5), rows.isNull(0, 0)] == [true, false])
      #expect(rows.integer(0, 1) != 0)
      #expect(rows.integer(0, 4) == 0)
    }

    @Test func `An array of a hundred thousand elements arrives as a whole`() throws {
      var parameters = Parameters()
      parameters.append((1...100_000).map { Int64($0) })
      let rows = try schema.connection().run(
        "SELECT count(*), sum(n)::int8, max(n) FROM unnest($1::int8[]) AS n", parameters, while: "Testing")
      #expect(rows.integer(0, 0) == 100_000)
      #expect(rows.integer(0, 1) == 5_000_050_000)
      #expect(rows.integer(0, 2) == 100_000)
    }

    @Test
    func `More values than the server counts are an error that says so, and the connection stays usable`()
      throws
    {
      let connection = try schema.connection()
      func sum(_ count: Int) throws(StoreError) -> Int64 {
        var parameters = Parameters()
        for _ in 0..<count { parameters.append(Int64(1)) }
        let list = (1...count).map { "$\($0)" }.joined(separator: ", ")
        return try connection.run(
          "SELECT count(*) FROM unnest(ARRAY[\(list)]) AS n", parameters, while: "Counting"
        ).integer(0, 0)
      }
      #expect(try sum(65_535) == 65_535)
      let error = failure { () throws(StoreError) in _ = try sum(65_536) }
      #expect(error?.code == .tooBig)
      #expect(error?.message.contains("65536 values, where the server allows 65535") == true)
      #expect(try sum(2) == 2)
    }

    @Test func `Statements are not compiled, because nothing interrupts the compiler`() throws {
      #expect(try schema.connection().texts("SHOW jit") == ["off"])
    }

    @Test func `One text gets values of different types`() throws {
      let connection = try schema.connection()
      func text(_ parameters: consuming Parameters) throws -> String? {
        let rows = try connection.run("SELECT ($1)::text", parameters, while: "Testing")
        return rows.text(0, 0)
      }
      var integer = Parameters()
      integer.append(Int64(7))
      #expect(try text(integer) == "7")
      var double = Parameters()
      double.append(1.5)
      #expect(try text(double) == "1.5")
      var again = Parameters()
      again.append(Int64(-8))
      #expect(try text(again) == "-8")
      #expect(connection.preparedCount == 2)
    }

    @Test func `The least used statements leave the cache on both sides`() throws {
      let connection = try schema.connection()
      for number in 0..<(Connection.cacheLimit + 50) {
        #expect(try connection.texts("SELECT '\(number)'::text") == ["\(number)"])
      }
      #expect(connection.preparedCount == Connection.cacheLimit)
      #expect(
        try connection.integer("SELECT count(*) FROM pg_prepared_statements")
          == Int64(Connection.cacheLimit))
      #expect(try connection.texts("SELECT '0'::text") == ["0"])
    }

    @Test(arguments: [
      ("SELECT 1 / 0", StoreError.Code.constraint, "22012"),
      ("SELECT 300000::int2", .tooBig, "22003"),
      ("SELECT 'secret value'::int8", .constraint, "22P02"),
      ("SELECT * FROM missing_table", .incompatibleSchema, "42P01"),
      ("CREATE TEMP TABLE t (a int UNIQUE); INSERT INTO t VALUES (7), (7)", .uniqueness, "23505"),
      ("BEGIN READ ONLY; CREATE TABLE t (a int)", .readOnly, "25006"),
      ("SELEC", .engine, "42601"),
    ])
    func `A failed statement becomes a typed error without values`(
      sql: String, code: StoreError.Code, state: String
    ) throws {
      let connection = try schema.connection()
      let error = failure { () throws(StoreError) in try connection.execute(sql, while: "Testing") }
      #expect(error?.code == code)
      #expect(error?.engineCode == Int32(state, radix: 36))
      #expect(error?.message.contains(state) == true)
      #expect(error?.message.contains("secret value") == false)
      #expect(error?.message.contains("(7)") == false)
      connection.rollBack()
      #expect(try connection.texts("SELECT 'on'") == ["on"])
    }

    @Test func `A lock that is not free within its time is reported as busy`() throws {
      let holder = try schema.connection()
      try holder.execute("SELECT pg_advisory_lock(4711)", while: "Testing")
      var configuration = schema.configuration()
      configuration.lockTimeout = .milliseconds(20)
      var waiting = try Connection(try ConnectionOptions(configuration), configuration)
      #expect(
        failure { () throws(StoreError) in
          try waiting.execute("SELECT pg_advisory_lock(4711)", while: "Testing")
        }?.code == .busy)
      configuration.lockTimeout = nil
      configuration.statementTimeout = .milliseconds(20)
      waiting = try Connection(try ConnectionOptions(configuration), configuration)
      #expect(
        failure { () throws(StoreError) in
          try waiting.execute("SELECT pg_advisory_lock(4711)", while: "Testing")
        }?.code == .cancelled)
    }

    @Test func `A killed backend is reported as a lost connection`() throws {
      let victim = try schema.connection()
      try schema.connection().terminate(victim.backend)
      let error = failure { () throws(StoreError) in try victim.execute("SELECT 1", while: "Testing") }
      #expect(error?.code == .io)
      #expect(error?.engineCode == ServerError.connectionLost)
      #expect(!victim.isUsable)
    }
  }

  @Suite struct ConnectionOptionsTests {
    private func values(_ configuration: PostgreSQLConfiguration) throws -> [String: String] {
      try ConnectionOptions(configuration).withParameters { keywords, values, _ in
        Dictionary(uniqueKeysWithValues: zip(keywords, values))
      }
    }

    @Test func `The certificate of a host is verified unless the caller decides otherwise`() throws {
      var configuration = PostgreSQLConfiguration(url: "postgresql://me@db.example/app")
      #expect(try values(configuration)["sslmode"] == "verify-full")
      configuration.url += "?sslmode=require"
      #expect(try values(configuration)["sslmode"] == "require")
      configuration.tlsMode = .verifyCA
      #expect(try values(configuration)["sslmode"] == "verify-ca")
      configuration.rootCertificates = "/some/file.pem"
      #expect(try values(configuration)["sslrootcert"] == "/some/file.pem")
    }

    @Test func `Connections notice a network that drops packets, unless the URL says how`() throws {
      var configuration = PostgreSQLConfiguration(url: "postgresql://me@db.example/app")
      func values(_ options: ConnectionOptions) -> [String: String] {
        options.withParameters { keywords, values, _ in
          Dictionary(uniqueKeysWithValues: zip(keywords, values))
        }
      }
      var options = try ConnectionOptions(configuration)
      #expect(values(options)["tcp_user_timeout"] == "10000" && values(options)["keepalives_idle"] == "30")
      #expect(values(options)["connect_timeout"] == "10")
      #expect(values(options.limited(toSeconds: 1))["connect_timeout"] == "2")
      #expect(values(options.forWaiting)["tcp_user_timeout"] == "3000")
      #expect(values(options.forWaiting)["keepalives_idle"] == "1")
      configuration.url += "?tcp_user_timeout=77&keepalives_idle=5"
      options = try ConnectionOptions(configuration)
      #expect(values(options)["tcp_user_timeout"] == "77" && values(options)["keepalives_idle"] == "5")
      #expect(values(options.forWaiting)["tcp_user_timeout"] == "77")
      #expect(values(options.forWaiting)["keepalives_idle"] == "5")
      #expect(values(options.forWaiting)["keepalives_interval"] == "1")
    }

    @Test func `A URL gives host, role and database, and a closure the password`() throws {
      var configuration = PostgreSQLConfiguration(url: "postgresql://me:old@db.example:77/app")
      configuration.password = { "new" }
      let found = try values(configuration)
      #expect(found["host"] == "db.example" && found["port"] == "77")
      #expect(found["user"] == "me" && found["dbname"] == "app")
      #expect(found["password"] == "new")
    }

    @Test(arguments: [
      "sqlite:///x?hunter2", "postgresql://me@h/db?hunter2=1",
      "hunter2",
      "postgresql://me:hunter2@[::1/db",
    ])
    func `A bad URL is refused without repeating it`(url: String) {
      let error = failure { () throws(StoreError) in
        _ = try ConnectionOptions(PostgreSQLConfiguration(url: url))
      }
      #expect(error?.code == .cannotOpen)
      #expect(error?.description.contains("hunter2") == false)
    }

    @Test func `A password is in no description and in no error`() {
      // The folder of the socket does not exist.
      let configuration = PostgreSQLConfiguration(
        url: "postgresql://me:hunter2@/db?host=/nonexistent/hunter2")
      var text = "\(configuration) \(String(reflecting: configuration))"
      dump(configuration, to: &text)
      #expect(!text.contains("hunter2"))
      let error = failure { () throws(StoreError) in
        _ = try Connection(try ConnectionOptions(configuration), configuration)
      }
      #expect(error?.code == .cannotOpen)
      #expect(error?.description.contains("/nonexistent/") == true)
      #expect(error?.description.contains("hunter2") == false)
    }
  }
#endif
