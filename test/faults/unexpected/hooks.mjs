/**
 * Module hooks that make sites of the callbacks in the built server. A callback inside a catch of a boundary (`guarded`,
 * `contained`) is wrapped there, so that the fault is thrown where a fault of that code would be.
 */
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'

const DIST = new URL('../../../dist/', import.meta.url).href

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context)
  if (!url.startsWith(DIST) || !existsSync(`${fileURLToPath(url)}.map`)) return loaded
  return { ...loaded, source: withSites(fileURLToPath(url), String(loaded.source)) }
}

/** Which argument of a call is a callback, by the name of what is called. */
const CALLBACK_AT = {
  on: 1,
  once: 1,
  addListener: 1,
  setInterval: 0,
  setImmediate: 0,
  queueMicrotask: 0,
  nextTick: 0,
  soon: 0,
  defer: 0,
  subscribe: 0,
  after: 1,
  later: 1,
  every: 2,
  SlicedWork: 1,
  contained: 2,
  guarded: 2,
  guard: 0,
  unawaited: 2,
}
const STATE_APPLY = 'src/core/engine/follower.ts state.apply'
const EMITTERS = new Set(['on', 'once', 'addListener'])
const SERVERS = new Set(['createServer', 'createListener'])

function withSites(path, code) {
  const placeOf = placesIn(path, code)
  const { program } = parseSync(path, code)
  const inserts = []
  const wrapped = new Set()
  const names = new Map()
  const caught = caughtNames(program)
  // No callback, but the place where a fault leaves memory half changed.
  const visitState = ({ callee, start, end }) => {
    if (nameOf(callee) !== 'apply' || callee.object?.name !== 'state') return
    names.set(STATE_APPLY, 1)
    inserts.push([start, `__site(${JSON.stringify(STATE_APPLY)}, () => `], [end, ')()'])
  }
  const visit = (call) => {
    visitState(call)
    const target = callbackOf(call)
    if (target === undefined || caught.has(target.node)) return
    const { kind, node, wrapper } = innermost(target.node, target.kind)
    const source = placeOf(node.start)
    if (source === undefined || wrapped.has(node.start)) return
    wrapped.add(node.start)
    const name = `${source} ${kind}`
    const count = (names.get(name) ?? 0) + 1
    names.set(name, count)
    const site = JSON.stringify(count === 1 ? name : `${name} #${count}`)
    inserts.push([node.start, `${wrapper}(${site}, `], [node.end, ')'])
  }
  new Visitor({ CallExpression: visit, NewExpression: visit }).visit(program)
  return `${spliced(code, inserts)}\nglobalThis.__known?.(${JSON.stringify([...names.keys()])})\n`
}

/** Names that stand for a callback which is inside a catch already: its site is where it is made. */
function caughtNames(program) {
  const scopes = []
  const known = []
  const enter = ({ type, start, end }) => void scopes.push({ type, start, end })
  const leave = () => void scopes.pop()
  const note = (key, value, scope = scopes.at(-1)) => {
    if (value && isCaught(value)) known.push({ name: key.name, ...scope })
  }
  // A field of a class that its constructor sets is known in the whole class.
  const noteField = ({ left, right }) => {
    if (left.type !== 'MemberExpression' || left.object.type !== 'ThisExpression') return
    note(
      left.property,
      right,
      scopes.findLast(({ type }) => type === 'ClassBody'),
    )
  }
  const scope = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'ClassBody']
  new Visitor({
    ...Object.fromEntries(
      scope.flatMap((type) => [
        [type, enter],
        [`${type}:exit`, leave],
      ]),
    ),
    VariableDeclarator: ({ id, init }) => note(id, init),
    PropertyDefinition: ({ key, value }) => note(key, value),
    AssignmentExpression: noteField,
  }).visit(program)
  const isIn = (node, { start = 0, end = Infinity }) => start <= node.start && node.end <= end
  const has = (node) => {
    const name = node.type === 'MemberExpression' ? node.property.name : node.name
    return known.some((one) => one.name === name && isIn(node, one))
  }
  return { has }
}

function isCaught(value) {
  const call = value.type === 'ArrowFunctionExpression' && value.expression ? value.body : value
  return call.type === 'CallExpression' && ['guarded', 'contained', 'guard'].includes(nameOf(call.callee))
}

/** The callback that a call is given. */
function callbackOf(call) {
  const name = nameOf(call.callee)
  const args = call.arguments
  if (EMITTERS.has(name)) {
    const [event] = args
    if (args.length !== 2 || event.type !== 'Literal' || typeof event.value !== 'string') return undefined
    if (call.callee.object?.name === 'process') return undefined
    return { kind: `on ${event.value}`, node: args[1] }
  }
  if (name === 'setTimeout') {
    const node = call.callee.type === 'Identifier' ? args[0] : args[1]
    return node && { kind: name, node }
  }
  if (SERVERS.has(name)) {
    const node = args.at(-1)
    const isCallback = node !== undefined && /Function|Identifier/.test(node.type)
    return isCallback ? { kind: name, node } : undefined
  }
  const node = args[CALLBACK_AT[name]]
  return node === undefined || node.type === 'SpreadElement' ? undefined : { kind: name, node }
}

/** Where inside the boundaries the callback itself is. */
function innermost(node, kind) {
  const call = node.type === 'ArrowFunctionExpression' && node.expression ? node.body : node
  if (call.type === 'CallExpression') {
    const name = nameOf(call.callee)
    const [first, , third] = call.arguments
    if (name === 'guarded' || name === 'contained') return innermost(third, kind)
    if (name === 'guard') return innermost(first, kind)
    if (name === 'unawaited') return { kind, node: third, wrapper: '__promise' }
  }
  const isPromise = kind === 'unawaited'
  return { kind, node, wrapper: isPromise ? '__promise' : '__site' }
}

/** The last name of what is called, as in the source: the bundle numbers equal ones. */
function nameOf(callee) {
  const last = callee.type === 'MemberExpression' ? callee.property : callee
  return String(last.name ?? '').replace(/\$\d+$/, '')
}

/** Where a place of the bundle comes from: a file of src and its line; undefined for packages. */
function placesIn(path, code) {
  const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')))
  const starts = [0]
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset)
    const { originalSource, originalLine } = map.findEntry(line, offset - starts[line])
    const ours = /(?:^|\/)(src\/.*\.ts)$/.exec(originalSource ?? '')
    return ours === null || originalSource.includes('node_modules')
      ? undefined
      : `${ours[1]}:${originalLine + 1}`
  }
}

function spliced(code, inserts) {
  // Of two at one place, the later call is inside the earlier one.
  const sorted = inserts.map((insert, order) => [...insert, order])
  sorted.sort((a, b) => a[0] - b[0] || (a[1] === ')' ? b[2] - a[2] : a[2] - b[2]))
  let result = ''
  let at = 0
  for (const [offset, text] of sorted) {
    result += code.slice(at, offset) + text
    at = offset
  }
  return result + code.slice(at)
}
