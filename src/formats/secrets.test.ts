import { expect, test } from 'vitest'
import { isSecretKey } from './secret-keys.ts'
import { mayHaveSecrets } from './secret-texts.ts'
import { secretRanges } from './secrets.ts'

const covered = async (type: string, text: string): Promise<string[]> =>
  (await secretRanges(type, text)).map(({ from, to }) => text.slice(from, to))

test.each<[string, string, string[]]>([
  ['text', 'password: hunter2', ['hunter2']],
  ['text', '  db.password = hunter2 ', ['hunter2']],
  ['text', '"apiKey": "k-1", "user": "shop"', ['"k-1"']],
  ['text', '{"a":{"client_secret":"s"},"token":7}', ['"s"', '7']],
  ['text', "access-token: 'a b'", ["'a b'"]],
  ['text', 'url=jdbc:mysql://db/shop?user=a&password=b&ssl=true', ['b']],
  ['text', '<db><password>p</password><user>u</user></db>', ['p']],
  ['text', 'privateKey: |\n  line 1\n\n  line 2\nuser: shop', ['line 1', 'line 2']],
  ['text', 'password: Ab1&x;Qz9', ['Ab1&x;Qz9']],
  ['text', 'user: shop\npasswords: ', []],
  ['text', 'token', []],
  ['text', '# nothing here', []],
  ['yaml', 'password: Ab1&x;Qz9', ['Ab1&x;Qz9']],
  ['yaml', "password: 'it''s-me'", ["'it''s-me'"]],
  ['yaml', 'password:\n  hunter2\nuser: a', ['hunter2']],
  ['yaml', 'tokens:\n  - tk-aaa-111\n  - b\n', ['tk-aaa-111', 'b']],
  ['yaml', 'secrets:\n  db: aaa\n  url: bbb\n', ['aaa', 'bbb']],
  ['yaml', 'token:\n  expiry: 3600\n  value: aaa\n', ['aaa']],
  ['yaml', '- name: DB_PASSWORD\n  value: x\n- name: USER\n  value: y\n', ['x']],
  ['yaml', 'a: &p hunter2\npassword: *p\n', ['hunter2']],
  ['yaml', 'a: 1 # password: old\n', ['old']],
  ['yaml', 'password: a b\n  c d\n', ['a b', 'c d']],
  ['yaml', 'password: "a\\\n  b"\nx: [', ['"a\\', 'b"']],
  ['properties', 'db.password=;Kx#9&z', [';Kx#9&z']],
  ['properties', 'mq.password=abc\\\n  defghi\n', ['abc\\', 'defghi']],
  ['properties', 'password\thunter2', ['hunter2']],
  ['properties', 'secret.keys[0]=aaa', ['aaa']],
  ['properties', 'pass\\\n  word=a', ['a']],
  ['toml', 'password = """a\nb"""\n[x.secrets]\nq = 1\n', ['"""a', 'b"""', '1']],
  ['xml', '<property name="password" value="hunter2"/>', ['hunter2']],
  ['xml', '<a><entry key="db.password">x</entry><entry key="user">y</entry></a>', ['x']],
  ['xml', '<p><name>db.password</name><value>x</value></p>', ['x']],
  ['xml', '<db password="x" user="y"/>', ['x']],
  ['xml', '<password>a<![CDATA[b]]></password>', ['a<![CDATA[b]]>']],
  ['json', '{"name":"DB_PASSWORD","value":"x"}', ['"x"']],
  ['json', '{"url":"redis://:hunter2@cache:6379","mq":"amqp://u:p@w@mq/v"}', ['hunter2', 'p@w']],
  ['yaml', 'a: redis://:123/45@h\nb: http://host:80/x@y\nc: u:a/b?c@host\n', ['123/45']],
  ['yaml', 'a: http://u:a/b?c#d@host\ndsn: root:hunter2@tcp(127.0.0.1:3306)/db\n', ['a/b?c#d', 'hunter2']],
  ['properties', 'db=jdbc:oracle:thin:scott/tiger@//host', ['tiger']],
  ['json', '{"password":"x","a":', ['"x"']],
  ['properties', 'a=jdbc\\:mysql\\://h/x?user\\=u&password\\=ZQX1\nb=1', ['ZQX1']],
  ['properties', 'a=redis\\u003a//:pw@h', ['pw']],
  ['properties', 'a=redis\\\n  ://:p\\\n  w@h', ['p\\', 'w']],
  ['json', String.raw`{"a":"https:\/\/u:ZQX1@h"}`, ['ZQX1']],
  ['json', String.raw`{"a":"https:\u002f\u002Fu:Z\u0051X1\u0040h"}`, [String.raw`Z\u0051X1`]],
  ['json', String.raw`{"a":"{\"password\":\"x y\"}"}`, [String.raw`\"x y\"`]],
  ['yaml', String.raw`a: "redis:\x2f\U0000002f:pw@h"`, ['pw']],
  ['yaml', 'a: "redis:\\\n  //:pw@h"\nb: redis:\\x2f/:pw@h', ['pw']],
  ['yaml', "a: 'q''s redis://:pw@h'", ['pw']],
  ['toml', String.raw`a = "redis:\u002f/:p\U00000077@h"`, [String.raw`p\U00000077`]],
  ['toml', 'a = """redis:\\\n\n  //:pw@h"""', ['pw']],
  ['toml', String.raw`a = 'redis:\u002f/:pw@h'`, []],
  ['xml', '<a>redis://:pw&#64;h</a>', ['pw']],
  ['xml', '<a>redis://:a&lt;b@h</a>', ['a&lt;b']],
  ['json', String.raw`{"a":"redis://:a\u003cb@h"}`, [String.raw`a\u003cb`]],
  ['yaml', 'a: http://[::1]:8848 or mail ann@corp', []],
  ['xml', '<a b="redis:&#x2F;/:p&amp;w@h"/>', ['p&amp;w']],
  ['xml', '<a>redis://:p<!-- x -->w@<![CDATA[h]]></a>', ['p<!-- x -->w']],
  ['yaml', 'a: postgres://u:p x@a\nb: http://h:80 me@x\nc: http://${h}:${p} me@x\n', ['p x']],
  ['text', 'a = postgres://u:p x@a', ['p x']],
  ['xml', '<!DOCTYPE a [<!ENTITY p "hunter2">]><a><password>&p;</password></a>', ['hunter2', '&p;']],
  [
    'xml',
    '<!DOCTYPE a [<!ENTITY p "x&q;"><!ENTITY q \'y\'><!ENTITY o "z">]><a secret="&p;">&o;</a>',
    ['x&q;', 'y', '&p;'],
  ],
  ['xml', '<!DOCTYPE a [<!ENTITY password "x">]><a/>', ['x']],
  ['xml', '<!DOCTYPE a [<!ENTITY x "<token>y&z;</token>"><!ENTITY z "q">]><a>&x;</a>', ['y&z;', 'q']],
  ['xml', '<!DOCTYPE a [<!ENTITY x "&#60;token>y\nz&#60;/token>">]><a>&x;</a>', ['y', 'z']],
  ['xml', '<!DOCTYPE a [<!ATTLIST a password CDATA "x" user CDATA #FIXED \'y\'>]><a/>', ['x']],
  [
    'xml',
    '<!DOCTYPE a [<!ENTITY % d \'<!ENTITY p "x">\'> %d;]><a><password>&p;</password></a>',
    ['<!ENTITY p "x">', '&p;'],
  ],
  [
    'xml',
    '<!DOCTYPE a SYSTEM "http://u:pw@h/a" [<!ENTITY e SYSTEM "ftp://u:pq@h"><!-- token=t -->]><a/>',
    ['pw', 'pq', 't -->]>'],
  ],
  ['xml', '<!DOCTYPE a [<!ENTITY p "x"><!BAD>]><a><password>&p;</password></a>', ['x', '&p;']],
  ['xml', '<?pi password="x"?><a/>', ['"x"']],
  ['xml', '<property name="pass&#119;ord" value="x"/>', ['x']],
  ['json', String.raw`{"name":"DB_PASS\u0057ORD","value":"x"}`, ['"x"']],
  ['yaml', 'n: &n DB_PASSWORD\ne:\n  - {name: *n, value: x}\n', ['x']],
  ['yaml', 'b: &b {db: x}\nsecrets:\n  <<: *b\n', ['x']],
  ['yaml', 'jaas: Login required username="a" password="b c";\n', ['"b c"']],
  // Files in a file.
  ['yaml', 'app: |\n  db.password=a&b c;d<\n  user=x\n', ['a&b c;d<']],
  ['yaml', 'app: |\n  token: |\n    a\n    b\n  x: 1\n', ['a', 'b']],
  ['json', String.raw`{"a":"user=x\npassword=a&b c\n"}`, ['a&b c']],
  ['xml', '<a><![CDATA[x=1\npassword=a;b c\ny=2]]></a>', ['a;b c']],
  ['toml', 'a = """\npassword = a&b c\n"""\n', ['a&b c']],
  ['yaml', 'opts: -Ddb.password=a&b;c -Dx=1\n', ['a&b;c']],
  ['yaml', 'db: Server=h;Password=a&b c;X=1\n', ['a&b c']],
  ['yaml', 'db: jdbc:mysql://h/x?password=a;b&ssl=true\n', ['a;b']],
  ['xml', '<a>http://h/x?token=a;b&amp;c=1</a>', ['a;b']],
  // Odd characters first.
  ['yaml', 'password: #Kx9 y\nb: 1\n', ['#Kx9 y']],
  ['yaml', 'password: ab #Kx\nb: 1 #c\n', ['ab #Kx']],
  ['yaml', 'password: !Kx9\ntoken: &Kx\nb: !c d\n', ['!Kx9', '&Kx']],
  ['yaml', 'password: {Kx9}\nb: {c}\n', ['Kx9']],
  ['yaml', 'password: # in the vault\npassword2: x # in the vault\n', ['x']],
  // Comments.
  ['yaml', '# tokens:\n#   - a\n#   - b\n# c: 1\nd: 1\n', ['- a', '- b']],
  ['yaml', 'a:\n  # secret: |\n  #   b\n  #   c\n  d: 1\n', ['b', 'c']],
  ['properties', '#password=\\\n#  a\n#b=1\nc=1', ['\\', 'a']],
  ['yaml', 'tokens:\n  # - a\n  - b\n  # - c\n# other: 1\nx: 1\n', ['- a', 'b', '- c']],
  ['yaml', 'tokens:\n- a\n# - b\n# the port\nport: 1\n', ['a', '- b']],
  ['yaml', 'secrets:\n  a: b\n  # c: d\nx: 1 # y: z\n', ['b', 'c: d']],
  ['yaml', 'token:\n  # a day\n  expiry: 1\n', []],
  [
    'toml',
    'tokens = [\n  "a", # b\n]\n[secrets]\nc = "d"\n# e = "f"\n\n# the server\n[g]\n',
    ['"a"', 'b', '"d"', 'e = "f"'],
  ],
  ['toml', '[x.secrets.y]\na = "b"\n# c = "d"\n', ['"b"', 'c = "d"']],
  ['xml', '<c><secrets><!-- a --><b>c</b></secrets><!-- d --></c>', ['a', 'c']],
  // Texts that cannot be read.
  ['xml', '<c>\n<password><Kx</password>\n<token>a<b</token><d>e</d></c>', ['<Kx', 'a<b']],
  ['xml', '<c>\n<&><secrets>\n  <db>a</db>\n</secrets><e>f</e></c>', ['<db>a</db>']],
  ['text', 'use <token> here, and then\nmore', []],
  ['json', '{ // no comments\n "tokens": [\n  "a",\n  "b"\n ],\n "c": "d"\n}', ['"a",', '"b"']],
  ['json', '{\n "x": 1,\n},\n "secrets": {\n  "db": "a"\n },\n "c": "d"\n}', ['"db": "a"']],
])('%s: in %j the values %j are covered', async (type, text, values) => {
  expect(await covered(type, text)).toEqual(values)
  expect(mayHaveSecrets(text) || values.length === 0).toBe(true)
})

/** Texts without secrets. */
const OPEN: readonly (readonly [string, string])[] = [
  ['yaml', 'max_tokens: 4096\npasswordEncoder: bcrypt\ntokenizer: bert\n'],
  [
    'yaml',
    'secretary: ann\ntoken-uri: http://a:80/x@y\ntokenExpiry: 3600\nsecretName: db\nshow-password: true\n',
  ],
  ['json', '{"maxOutputTokens":1,"passwordPolicy":{"minLength":8},"tokenType":"Bearer"}'],
  ['properties', 'security.password.encoder=bcrypt\njwt.token.expiration=3600\nserver.port=8080'],
  ['toml', 'max_tokens = 4096\npassword_min_length = 8\n'],
  ['xml', '<a passwordEncoder="bcrypt"><url>http://host:80/path</url></a>'],
  ['xml', '<!DOCTYPE a [<!ENTITY x "y"><!ATTLIST a passwordEncoder CDATA "bcrypt">]><a>&x;</a>'],
  ['yaml', 'url: jdbc:mysql://db:3306/shop?user=a&ssl=true\nmail: a@b.c\n'],
]

test.each(OPEN)('%s: in %j nothing is covered', async (type, text) => {
  expect(await covered(type, text)).toEqual([])
})

test('keys are recognised by a part of them', () => {
  expect(['spring.datasource.password', 'API_KEY', 'credentials', 'authToken'].every(isSecretKey)).toBe(true)
  expect(['user', 'port', 'pass', 'keys'].some(isSecretKey)).toBe(false)
})

test('a long line costs little', async () => {
  expect(await covered('text', `token: ${'x'.repeat(19_000)}`)).toHaveLength(1)
  expect(await covered('text', 'token '.repeat(20_000))).toHaveLength(1)
  expect(await covered('text', '"token" : "'.repeat(1_500))).toHaveLength(1_500 / 2)
})
