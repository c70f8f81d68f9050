/** Archives as people, systems and editors leave them: for every reader of imports. */

/** Files by their names. */
export type Files = Readonly<Record<string, string | Buffer>>

/** An archive, and the result of its import. */
export interface Repacked {
  readonly name: string
  readonly files: Files
  /** The contents that are published, by `group/dataId`. */
  readonly items: Readonly<Record<string, string>>
  /** The names of entries that are left out. */
  readonly leftOut?: readonly string[]
  /** Whether one of those looks like an item, so that somebody may miss it. */
  readonly isMissing?: boolean
  /** The items whose entries have their names in another form of Unicode. */
  readonly readAs?: readonly string[]
  /** Whether `config apply` reads such a directory in another way: its rules are for files that people write there. */
  readonly isZipOnly?: boolean
  /** The application of each item, where the metadata has it. */
  readonly appName?: string
  /** The folder that is taken off. */
  readonly folder?: string
}

/** Metadata of items named `group/dataId`, each of type yaml. */
export const described = (...names: readonly string[]): string =>
  `metadata:\n${names.map((name) => `- group: ${name.split('/')[0]}\n  dataId: ${name.split('/')[1]}\n  type: yaml\n`).join('')}`

/** A name that macOS decomposes, and that an item can have in both forms. */
export const KOREAN = { composed: '한글', decomposed: '한글'.normalize('NFD') } as const

const BINARY = Buffer.from([0, 0, 0x42, 0xff])

/** Archives with items. */
export const REPACKED: readonly Repacked[] = [
  {
    name: 'a folder around an export',
    files: {
      'export_2023/DEFAULT_GROUP/up.yml': 'a: 1\n',
      'export_2023/.metadata.yml': described('DEFAULT_GROUP/up.yml'),
    },
    items: { 'DEFAULT_GROUP/up.yml': 'a: 1\n' },
    folder: 'export_2023',
  },
  {
    name: 'the files of macOS',
    files: {
      'DEFAULT_GROUP/m.yml': 'a: 1\n',
      'DEFAULT_GROUP/.DS_Store': BINARY,
      '__MACOSX/DEFAULT_GROUP/._m.yml': BINARY,
      '.DS_Store': BINARY,
    },
    items: { 'DEFAULT_GROUP/m.yml': 'a: 1\n' },
    leftOut: ['DEFAULT_GROUP/.DS_Store', '__MACOSX/DEFAULT_GROUP/._m.yml', '.DS_Store'],
  },
  {
    name: 'the files of macOS around a folder with metadata',
    files: {
      'e/DEFAULT_GROUP/m.yml': 'a: 1\n',
      'e/.DS_Store': BINARY,
      'e/.metadata.yml': described('DEFAULT_GROUP/m.yml'),
      '__MACOSX/e/DEFAULT_GROUP/._m.yml': BINARY,
      '__MACOSX/._e': BINARY,
    },
    items: { 'DEFAULT_GROUP/m.yml': 'a: 1\n' },
    leftOut: ['e/.DS_Store', '__MACOSX/e/DEFAULT_GROUP/._m.yml', '__MACOSX/._e'],
    folder: 'e',
  },
  {
    name: 'the files of Windows and of editors',
    files: {
      'G/ok.yml': 'a: 1\n',
      'G/Thumbs.db': BINARY,
      'G/DESKTOP.INI': BINARY,
      'G/.ok.yml.swp': BINARY,
      'G/ok.yml~': 'old',
      'G/#ok.yml#': 'old',
      'G/.#ok.yml': 'lock',
      'G/.ok.yml.swx': BINARY,
      'G/.swp': BINARY,
      'G/.~lock.ok.yml#': 'lock',
      'G/~WRL0001.tmp': BINARY,
      'G/ok.yml:Zone.Identifier': '[ZoneTransfer]',
      'G/Thumbs.db:encryptable': '',
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.idea/workspace.xml': '<x/>',
    },
    items: { 'G/ok.yml': 'a: 1\n' },
    leftOut: [
      'G/Thumbs.db',
      'G/DESKTOP.INI',
      'G/.ok.yml.swp',
      'G/ok.yml~',
      'G/#ok.yml#',
      'G/.#ok.yml',
      'G/.ok.yml.swx',
      'G/.swp',
      'G/.~lock.ok.yml#',
      'G/~WRL0001.tmp',
      'G/ok.yml:Zone.Identifier',
      'G/Thumbs.db:encryptable',
      '.git/HEAD',
      '.idea/workspace.xml',
    ],
  },
  {
    name: 'a folder around groups, without metadata',
    files: { 'export/DEFAULT_GROUP/ok.yml': 'a: 1\n', 'export/SHOP/x.properties': 'a=1\n' },
    items: { 'DEFAULT_GROUP/ok.yml': 'a: 1\n', 'SHOP/x.properties': 'a=1\n' },
    folder: 'export',
  },
  {
    name: 'a dot in front of each name',
    files: { './G/a.yml': 'a: 1\n', './.metadata.yml': described('G/a.yml') },
    items: { 'G/a.yml': 'a: 1\n' },
  },
  {
    name: 'a dot in front of each name, and a folder',
    files: { './e/G/a.yml': 'a: 1\n', './e/H/b.yml': 'b: 1\n', './.DS_Store': BINARY },
    items: { 'G/a.yml': 'a: 1\n', 'H/b.yml': 'b: 1\n' },
    leftOut: ['./.DS_Store'],
    folder: 'e',
  },
  {
    name: 'a folder with metadata, and a file beside the groups',
    files: { 'e/G/a.yml': 'a: 1\n', 'e/README.md': 'read me', 'e/.metadata.yml': described('G/a.yml') },
    items: { 'G/a.yml': 'a: 1\n' },
    leftOut: ['e/README.md'],
    isMissing: true,
    folder: 'e',
    isZipOnly: true,
  },
  {
    name: 'copies, which are items',
    files: { 'G/a.yml.bak': 'a: 1\n', 'G/a.yml.orig': 'a: 2\n', 'G/4913': 'x' },
    items: { 'G/a.yml.bak': 'a: 1\n', 'G/a.yml.orig': 'a: 2\n', 'G/4913': 'x' },
  },
  {
    name: 'decomposed names',
    files: {
      'Cafe\u0301/u\u0308ber.yml': 'a: 1\n',
      [`G/${KOREAN.decomposed}`]: 'b',
      'G/\u30cf\u309a': 'c',
    },
    items: { 'Caf\u00e9/\u00fcber.yml': 'a: 1\n', [`G/${KOREAN.composed}`]: 'b', 'G/\u30d1': 'c' },
    readAs: ['Caf\u00e9/\u00fcber.yml', `G/${KOREAN.composed}`, 'G/\u30d1'],
  },
  {
    name: 'letters that NFC would change, and that no system has decomposed',
    files: {
      'G/\uF90A.yml': 'a: 1\n',
      'G/\u09DF': 'b',
      'H/\u212B': 'c',
      [`H/\uF90A${KOREAN.decomposed}`]: 'd',
    },
    items: {
      'G/\uF90A.yml': 'a: 1\n',
      'G/\u09DF': 'b',
      'H/\u212B': 'c',
      [`H/\uF90A${KOREAN.composed}`]: 'd',
    },
    readAs: [`H/\uF90A${KOREAN.composed}`],
  },
  {
    name: 'a decomposed name of an item that is described as composed',
    files: {
      [`G/${KOREAN.decomposed}`]: 'a: 1\n',
      '.metadata.yml': described(`G/${KOREAN.composed}`),
    },
    items: { [`G/${KOREAN.composed}`]: 'a: 1\n' },
    readAs: [`G/${KOREAN.composed}`],
  },
  {
    name: 'names of items that are described as decomposed',
    files: {
      [`G/${KOREAN.decomposed}`]: 'a: 1\n',
      [`H/${KOREAN.composed}`]: 'b: 1\n',
      '.metadata.yml': described(`G/${KOREAN.decomposed}`, `H/${KOREAN.decomposed}`),
    },
    items: { [`G/${KOREAN.decomposed}`]: 'a: 1\n', [`H/${KOREAN.decomposed}`]: 'b: 1\n' },
    readAs: [`H/${KOREAN.decomposed}`],
  },
  {
    name: 'names that the metadata of the first layout has decomposed',
    files: {
      [`G/${KOREAN.decomposed}.yml`]: 'a: 1\n',
      [`H/${KOREAN.composed}`]: 'b: 1\n',
      '.meta.yml': `G.${KOREAN.decomposed}~yml.app= \r\nH.${KOREAN.decomposed}.app=shop\r\n`,
    },
    items: { [`G/${KOREAN.decomposed}.yml`]: 'a: 1\n', [`H/${KOREAN.decomposed}`]: 'b: 1\n' },
    readAs: [`H/${KOREAN.decomposed}`],
  },
  {
    name: 'a decomposed name that no item can have, in the metadata too',
    files: { 'G/e\u0301.yml': 'a: 1\n', '.metadata.yml': described('G/e\u0301.yml') },
    items: { 'G/\u00e9.yml': 'a: 1\n' },
    readAs: ['G/\u00e9.yml'],
  },
  {
    name: 'decomposed names that no item can have, in the metadata of the first layout too',
    files: {
      'G/e\u0301.yml': 'a: 1\n',
      'H/\u00e9': 'b: 1\n',
      '.meta.yml': 'G.e\u0301~yml.app=shop\r\nH.e\u0301.app=shop\r\n',
    },
    items: { 'G/\u00e9.yml': 'a: 1\n', 'H/\u00e9': 'b: 1\n' },
    readAs: ['G/\u00e9.yml'],
    appName: 'shop',
  },
  {
    name: 'two items whose names differ in their form only, as an export of the first layout has them',
    files: {
      [`G/${KOREAN.decomposed}`]: 'a',
      [`G/${KOREAN.composed}`]: 'b',
      '.meta.yml': `G.${KOREAN.decomposed}.app= \r\n`,
    },
    items: { [`G/${KOREAN.decomposed}`]: 'a', [`G/${KOREAN.composed}`]: 'b' },
  },
  {
    name: 'the metadata of both layouts',
    files: {
      'G/a.yml': 'a: 1\n',
      '.metadata.yml': described('G/a.yml'),
      '.meta.yml': 'G.a~yml.app=shop\r\n',
    },
    items: { 'G/a.yml': 'a: 1\n' },
    leftOut: ['.meta.yml'],
  },
  {
    name: 'a name in both forms',
    files: { [`G/${KOREAN.decomposed}`]: 'other', [`G/${KOREAN.composed}`]: 'a' },
    items: { [`G/${KOREAN.composed}`]: 'a' },
    leftOut: [`G/${KOREAN.decomposed}`],
    isMissing: true,
    isZipOnly: true,
  },
  {
    name: 'names that differ in case, and one with an empty part',
    files: { 'G/a.yml': 'a: 1\n', 'g/A.yml': 'a: 2\n', 'G//b.yml': 'b: 1\n', 'x/y/.metadata.yml': '' },
    items: { 'G/a.yml': 'a: 1\n', 'g/A.yml': 'a: 2\n' },
    leftOut: ['G//b.yml', 'x/y/.metadata.yml'],
    isMissing: true,
  },
  {
    name: 'a group alone, which is no folder',
    files: { 'DEFAULT_GROUP/x.yml': 'a: 1\n' },
    items: { 'DEFAULT_GROUP/x.yml': 'a: 1\n' },
  },
  {
    name: 'backslashes',
    files: { 'DEFAULT_GROUP\\win.yml': 'a: 1\n', 'DEFAULT_GROUP\\': '' },
    items: { 'DEFAULT_GROUP/win.yml': 'a: 1\n' },
  },
  {
    name: 'backslashes, a folder and metadata',
    files: { 'e\\G\\win.yml': 'a: 1\n', 'e\\.metadata.yml': described('G/win.yml'), 'e\\Thumbs.db': BINARY },
    items: { 'G/win.yml': 'a: 1\n' },
    leftOut: ['e\\Thumbs.db'],
    folder: 'e',
  },
  {
    name: 'a backslash among slashes',
    files: { 'G/a.yml': 'a: 1\n', 'G\\b.yml': 'b: 1\n' },
    items: { 'G/a.yml': 'a: 1\n' },
    leftOut: ['G\\b.yml'],
    isMissing: true,
  },
  {
    name: 'metadata in a group',
    files: { 'G/a.yml': 'a: 1\n', 'G/.metadata.yml': described('G/a.yml') },
    items: { 'G/a.yml': 'a: 1\n' },
    leftOut: ['G/.metadata.yml'],
  },
  {
    name: 'metadata in capitals, on top and in a group',
    files: {
      'G/a.yml': 'a: 1\n',
      'G/.Metadata.YML': described('G/a.yml'),
      '.METADATA.YML': described('G/a.yml'),
    },
    items: { 'G/a.yml': 'a: 1\n' },
    leftOut: ['G/.Metadata.YML'],
  },
  {
    name: 'metadata in capitals beside that with the right name',
    files: {
      'G/a.yml': 'a: 1\n',
      '.METADATA.yml': described('G/old.yml'),
      '.metadata.yml': described('G/a.yml'),
    },
    items: { 'G/a.yml': 'a: 1\n' },
    leftOut: ['.METADATA.yml'],
  },
  {
    name: 'metadata of the first layout in a group, beside another group',
    files: { 'G/a.yml': 'a: 1\n', 'H/b.yml': 'b: 1\n', 'H/.meta.yml': 'H.b~yml.app=shop\r\n' },
    items: { 'G/a.yml': 'a: 1\n', 'H/b.yml': 'b: 1\n' },
    leftOut: ['H/.meta.yml'],
  },
  {
    name: 'names that no item has, some without a content',
    files: { 'G/a.yml': 'a: 1\n', 'G/Icon\r': '', 'G/b c.yml': '', [`G/${'d'.repeat(257)}`]: 'd' },
    items: { 'G/a.yml': 'a: 1\n' },
    leftOut: ['G/Icon\r', 'G/b c.yml', `G/${'d'.repeat(257)}`],
    isMissing: true,
  },
  {
    name: 'names with a dot first',
    files: { 'G/.env': 'A=1\n', 'G/.env.production': 'A=2\n' },
    items: { 'G/.env': 'A=1\n', 'G/.env.production': 'A=2\n' },
  },
  {
    name: 'an item that is called like litter, and described',
    files: { 'G/desktop.ini': 'a=1\n', '.metadata.yml': described('G/desktop.ini') },
    items: { 'G/desktop.ini': 'a=1\n' },
  },
  {
    name: 'items that are called like litter, and named in the metadata of the first layout',
    files: { 'G/desktop.ini': 'a=1\n', 'G/.gitignore': 'x\n', '.meta.yml': 'G.desktop~ini.app=\r\n' },
    items: { 'G/desktop.ini': 'a=1\n' },
    leftOut: ['G/.gitignore'],
  },
  {
    name: 'items that are called like the metadata',
    files: {
      '%2Emetadata.yml/x': 'a',
      'G/%2Emetadata.yml': 'b',
      '.metadata.yml': described('.metadata.yml/x', 'G/.metadata.yml'),
    },
    items: { '.metadata.yml/x': 'a', 'G/.metadata.yml': 'b' },
  },
  {
    name: 'items that are all called like litter, with a folder around',
    files: { 'export/G/.gitignore': 'x\n', 'export/.metadata.yml': described('G/.gitignore') },
    items: { 'G/.gitignore': 'x\n' },
    folder: 'export',
  },
  {
    name: 'metadata in a group beside an item of that name',
    files: {
      'G/.metadata.yml': 'stray',
      'G/%2Emetadata.yml': 'b',
      '.metadata.yml': described('G/.metadata.yml'),
    },
    items: { 'G/.metadata.yml': 'b' },
    leftOut: ['G/.metadata.yml'],
  },
  {
    name: 'the record of a set',
    files: { 'G/a.yml': 'a: 1\n', 'waypost.sets/shop': '{"items":{}}' },
    items: { 'G/a.yml': 'a: 1\n' },
    leftOut: ['waypost.sets/shop'],
  },
  {
    name: 'the described record of a set',
    files: {
      'G/a.yml': 'a: 1\n',
      'waypost.sets/shop': '{"items":{}}',
      '.metadata.yml': described('G/a.yml', 'waypost.sets/shop'),
    },
    items: { 'G/a.yml': 'a: 1\n' },
    leftOut: ['waypost.sets/shop'],
  },
  {
    name: 'names that lead elsewhere, as exports write them',
    files: {
      '%2E%2E/.profile': 'a',
      'G/%2E%2E': 'b',
      'G/%2E': 'c',
      'G/%61ux.yml': 'd: 1\n',
      'G/end%2E': 'e',
      'G/%2e%2e': 'no escape of ours',
      'G/%2F': 'a slash is in no name',
    },
    items: { '../.profile': 'a', 'G/..': 'b', 'G/.': 'c', 'G/aux.yml': 'd: 1\n', 'G/end.': 'e' },
    leftOut: ['G/%2e%2e', 'G/%2F'],
    isMissing: true,
  },
  {
    name: 'names that lead elsewhere, as older exports have them',
    files: { '../.profile': 'a', 'G/..': 'b', '.metadata.yml': described('../.profile', 'G/..') },
    items: { '../.profile': 'a', 'G/..': 'b' },
  },
]

/** Archives without an item, each with a name that the answer mentions. */
export const WITHOUT_ITEMS: readonly {
  readonly name: string
  readonly files: Files
  readonly names: string
}[] = [
  { name: 'a file on top', files: { 'app.yml': 'a: 1\n' }, names: '"app.yml"' },
  { name: 'a slash in front', files: { '/G/a.yml': 'a: 1\n' }, names: '"/G/a.yml"' },
  { name: 'folders in folders', files: { 'a/b/c/d.yml': 'a: 1\n' }, names: '"a/b/c/d.yml"' },
  {
    name: 'the files of systems',
    files: { '.DS_Store': BINARY, 'Thumbs.db': BINARY },
    names: '".DS_Store", "Thumbs.db"',
  },
  {
    name: 'metadata alone',
    files: { '.metadata.yml': described('G/a', 'G/b') },
    names: 'that are not there: "G/a", "G/b".',
  },
  {
    name: 'a record of a set alone',
    files: { 'waypost.sets/shop': '{}' },
    names: 'records of sets, which stay in their namespace: "waypost.sets/shop".',
  },
  { name: 'names that no item has', files: { 'G/with space': 'x' }, names: '"G/with space"' },
  {
    name: 'many names',
    files: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`top-${index}`, 'x'])),
    names: '"top-4" and 4 more',
  },
]

/** Archives that are refused before anything changes, with words of the message. */
export const REFUSED: readonly {
  readonly name: string
  readonly files: Files
  readonly words: readonly string[]
}[] = [
  {
    name: 'a file beside groups in one folder',
    files: {
      'backup/README.md': 'read me',
      'backup/DEFAULT_GROUP/x.yml': 'a: 1\n',
      'backup/S/y.yml': 'b: 1\n',
    },
    words: ['the folder "backup"', '"backup/README.md" would be an item', '"backup/DEFAULT_GROUP/x.yml"'],
  },
  {
    name: 'a folder in a group',
    files: { 'G/a.yml': 'a: 1\n', 'G/old/a.yml': 'a: 0\n' },
    words: ['"G/a.yml" would be an item', '"G/old/a.yml" would be none'],
  },
  {
    name: 'several contents that no server stores',
    files: { 'G/a': 'a', 'G/b.bak': BINARY, 'G/c': BINARY, 'G/d': ' \n', 'G/4913': '' },
    words: ['not UTF-8: "G/b.bak", "G/c"', 'blank contents: "G/d", "G/4913"'],
  },
  {
    name: 'items that are described twice',
    files: { 'G/a': 'a', 'G/b': 'b', '.metadata.yml': described('G/a', 'G/b', 'G/a', 'G/b') },
    words: ['described twice: "G/a", "G/b"'],
  },
  {
    name: 'described items of which a system without case has kept one file',
    files: {
      'G/App': 'b',
      'S/caf\u00c9': 'c',
      'S/%43ON': 'd',
      '.metadata.yml': described('G/App', 'G/app', 'S/cafe\u0301', 'S/con'),
    },
    words: ['"G/app" ("G/App"), "S/caf\u00e9" ("S/caf\u00c9"), "S/con" ("S/CON")'],
  },
  {
    name: 'such items in the metadata of the first layout',
    files: { 'G/App.yml': 'b', '.meta.yml': 'G.App~yml.app=shop\r\nG.app~yml.app=shop\r\n' },
    words: ['"G.app~yml.app" ("G.App~yml.app")'],
  },
]
