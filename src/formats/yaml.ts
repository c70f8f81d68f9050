/** Reads YAML. It is loaded when a YAML text is read: the package is as large as half an editor. */
import {
  type Alias as YamlAlias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  type Scalar as YamlScalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Finding } from './finding.ts'
import {
  besideOf,
  commentsBetween,
  hasUnknownTag,
  hasWrongForm,
  isOfOtherKind,
  isSameAsPlain,
  keyIdentity,
  otherEscapeIn,
  sourceOf,
  wrongDocumentMarks,
} from './yaml-scalars.ts'
import { type Collection, type Member, type Range, type Reading, stepAt, stepOf, type Tree } from './tree.ts'

/** Left to itself, the package compares each key of a map with all others. */
const OPTIONS = { prettyErrors: false, logLevel: 'silent', uniqueKeys: false } as const
/** Readers of YAML refuse these characters, wherever they are. */
const UNPRINTABLE = /[^\t\n\r\u0020-\u007E\u0085\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu
/** Between a key that is not there and its colon. */
const LONGEST_GAP = 100
const COMMENT_AT_ONCE = 'Comments must be separated from other tokens by white space characters'
/** The package refuses this, and the readers of applications do not. */
const HARMLESS = ['Set items must all have null values', COMMENT_AT_ONCE]
/** They refuse it behind the marks of a block. */
const MARKS = /(?:^|[\s:-])[|>][-+\d]*$/
const LONGEST_MARKS = 5

/** The package only warns of versions such as 2.0. */
const OTHER_VERSION = /^Unsupported YAML version (?!1\.)/

/** Characters at which readers of YAML 1.1 end the name of an anchor. */
const NO_ANCHOR = /[:/.*&]/

/** Reads a YAML text, also one with errors. */
export function readYaml(given: string): Reading {
  // Readers of applications end lines there, too.
  const text = given.replaceAll(/\r(?!\n)/g, '\n')
  const documents = [...parseAllDocuments(text, OPTIONS)] as Document.Parsed[]
  const findings: Finding[] = documents.flatMap(({ errors, warnings }) =>
    [...errors, ...warnings.filter(({ message }) => OTHER_VERSION.test(message))]
      .filter(({ message, pos: [from] }) => {
        if (message === COMMENT_AT_ONCE && MARKS.test(text.slice(Math.max(0, from - LONGEST_MARKS), from)))
          return true
        return !HARMLESS.some((one) => message.startsWith(one))
      })
      .map(({ code, message, pos: [from, to] }) => {
        return { code: `yaml.${code}`, text: message, from, to: Math.max(to, from) } as const
      }),
  )
  findings.push(...wrongDocumentMarks(text))
  for (const { index, 0: character } of text.matchAll(UNPRINTABLE))
    findings.push({ code: 'wrongCharacter', text: '', from: index, to: index + character.length })
  const scalars: Range[] = []
  const roots = documents.map((document) => new DocumentReader(text, { findings, scalars }).read(document))
  findings.sort((a, b) => a.from - b.from)
  return { roots, findings, comments: commentsBetween(text, scalars) }
}

/** The findings and scalars of all documents of a text. */
interface Found {
  readonly findings: Finding[]
  readonly scalars: Range[]
}

class DocumentReader {
  readonly #text: string
  readonly #found: Found
  /** The node that each anchor names so far. */
  readonly #anchors = new Map<string, Node>()
  readonly #trees = new Map<Node, Tree>()

  constructor(text: string, found: Found) {
    this.#text = text
    this.#found = found
  }

  read({ contents, range }: Document.Parsed): Tree {
    return this.#tree(contents as Node | null, range[0])
  }

  #tree(node: Node | null, at: number): Tree {
    if (node === null) return { kind: 'scalar', from: at, to: at, text: '' }
    if (isAlias(node)) return this.#alias(node)
    this.#checkTab(node)
    // Before what is in it: a list may have an alias to itself.
    const { anchor } = node as YamlScalar
    if (hasUnknownTag(node))
      this.#found.findings.push({ code: 'unknownTag', text: tagOf(node).trim(), ...rangeOf(node) })
    if (anchor !== undefined) this.#anchors.set(anchor, node)
    if (anchor !== undefined && NO_ANCHOR.test(anchor))
      this.#found.findings.push({ code: 'wrongAnchor', text: anchor, ...rangeOf(node) })
    const tree = isMap(node)
      ? this.#map(node)
      : isSeq(node)
        ? this.#list(node)
        : this.#scalar(node as YamlScalar)
    if (isOfOtherKind(node, tree.kind)) {
      const [text = ''] = this.#text.slice(tree.from, tree.to).split('\n', 1)
      this.#found.findings.push({ code: 'wrongTagged', text, from: tree.from, to: tree.to })
    }
    this.#trees.set(node, tree)
    return tree
  }

  #alias(node: YamlAlias): Tree {
    const range = rangeOf(node)
    const target = this.#anchors.get(node.source)
    if (target === undefined) this.#found.findings.push({ code: 'noAnchor', text: node.source, ...range })
    return {
      kind: 'alias',
      ...range,
      target: () => (target === undefined ? undefined : this.#trees.get(target)),
    }
  }

  #scalar(node: YamlScalar): Tree {
    const range = rangeOf(node)
    this.#found.scalars.push(range)
    const escape = otherEscapeIn(node, this.#text.slice(range.from, range.to))
    if (escape >= 0) {
      const from = range.from + escape
      this.#found.findings.push({ code: 'wrongEscape', text: '', from, to: from + 2 })
    }
    if (hasWrongForm(node))
      this.#found.findings.push({ code: 'wrongTagged', text: String(node.source ?? ''), ...range })
    const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED'
    const beside = isBlock ? undefined : besideOf(this.#text, range)
    return {
      kind: 'scalar',
      ...range,
      text: tagOf(node) + sourceOf(node, this.#text.slice(range.from, range.to)),
      isBlock,
      ...(beside && { beside }),
    }
  }

  #list(node: YAMLSeq): Tree {
    const members: Member[] = []
    const list = collection('list', node, members)
    let at = list.from
    node.items.forEach((item, index) => {
      // A list between brackets may have pairs.
      const value = 'key' in (item as object) ? this.#pair(item as Pair) : this.#tree(item as Node, at)
      at = value.to
      members.push({ name: String(index), step: stepAt(index), key: { from: at, to: at }, value })
    })
    return list
  }

  #pair(pair: Pair): Tree {
    const member = this.#member(pair, 0)
    return { kind: 'map', from: member.key.from, to: member.value.to, members: [member], isFlow: true }
  }

  #map(node: YAMLMap): Tree {
    const members: Member[] = []
    const map = collection('map', node, members)
    const known = new Set<string>()
    for (const pair of node.items) {
      const member = this.#member(pair, map.from)
      members.push(member)
      this.#checkKey(member)
      const identity = keyIdentity(pair.key as Node | null, member.step)
      if (member.isMerge === true) {
        this.#checkMerge(member)
        continue
      }
      if (known.has(identity))
        this.#found.findings.push({ code: 'duplicateKey', text: member.name, ...member.key })
      known.add(identity)
    }
    return map
  }

  #member({ key: node, value: below }: Pair, at: number): Member {
    const [key, node_] = [node as Node | null, below as Node | null]
    const range = key === null ? { from: at, to: at } : rangeOf(key)
    const keyTree = this.#tree(key, at)
    const value = this.#tree(node_, range.to)
    const resolved = keyTree.kind === 'alias' ? keyTree.target() : keyTree
    const text = resolved?.kind === 'scalar' ? resolved.text : this.#text.slice(range.from, range.to)
    const isMerge = isScalar(key) && key.type === 'PLAIN' && key.source === '<<' && key.tag === undefined
    const name = isScalar(key) ? (key.source ?? String(key.value)) : text
    // In quotes, a number or a word such as `true` is another key.
    const isText = isScalar(key) && key.tag === undefined && isSameAsPlain(key)
    const step = isText ? stepOf(name) : stepOfOther(key, text)
    return { name, step, key: range, value, isMerge }
  }

  /** Readers of YAML 1.1 take no tab between a key and its value. */
  #checkTab(node: Node): void {
    const { from } = rangeOf(node)
    let at = from
    while (' \t'.includes(this.#text[at - 1] ?? '-')) at--
    const tab = this.#text.slice(at, from).indexOf('\t')
    if (tab >= 0) this.#found.findings.push({ code: 'wrongTab', text: '', from: at + tab, to: at + tab + 1 })
  }

  /** Readers of YAML 1.1 take nothing for a key only behind a question mark. */
  #checkKey({ key: { from, to } }: Member): void {
    if (from !== to || /\?[ ]*$/.test(this.#text.slice(Math.max(0, from - 10), from))) return
    const colon = to + /^(?:\s|#[^\n]*)*/.exec(this.#text.slice(to, to + LONGEST_GAP))![0].length
    const before = this.#text.slice(this.#text.lastIndexOf('\n', colon - 1) + 1, colon)
    if (this.#text[colon] === ':' && /^[ -]*$|[{}[\],] *$/.test(before))
      this.#found.findings.push({ code: 'keyExpected', text: '', from: colon, to: colon + 1 })
  }

  #checkMerge({ value }: Member): void {
    const merged = value.kind === 'alias' ? value.target() : value
    const all = merged?.kind === 'list' ? merged.members.map((one) => one.value) : [merged]
    for (const one of all) {
      const map = one?.kind === 'alias' ? one.target() : one
      if (map !== undefined && map.kind !== 'map')
        this.#found.findings.push({ code: 'wrongMerge', text: '', from: value.from, to: value.to })
    }
  }
}

function rangeOf({ range }: Node): Range {
  const [from, to] = range ?? [0, 0]
  return { from, to }
}

function collection(kind: 'map' | 'list', node: YAMLMap | YAMLSeq, members: Member[]): Collection {
  const tag = tagOf(node).trim()
  return {
    kind,
    ...rangeOf(node),
    members,
    isFlow: node.flow === true,
    ...(tag === '' ? {} : { tag }),
  }
}

/** The tag of a node and a blank, or nothing. */
function tagOf({ tag }: { tag?: string }): string {
  return tag === undefined ? '' : `${tag.replace(/^tag:yaml\.org,2002:/, '!!')} `
}

/** The part of a path for a key that is no plain text. It is a number, a list, or a text that needs its quotes. */
function stepOfOther(key: Node | null, text: string): string {
  if (isScalar(key) && key.tag === undefined && typeof key.value === 'string' && key.type !== 'PLAIN')
    return JSON.stringify(key.value)
  return stepOf(text) === text ? text : `?${JSON.stringify(text)}`
}
