import { digestOf, HEADERS, signatureOf } from '../../src/cluster/peer-signature.ts'
import { mutated } from './mutate.ts'
import type { Random } from './random.ts'

/** Who speaks: somebody without the secret, or a member that is broken. */
export type Speaker = 'stranger' | 'member'

/** What is sent over one connection to a peer port. */
export interface PeerConversation {
  readonly speaker: Speaker
  /** Whether the bytes go through TLS: those of a member do, and some of a stranger. */
  readonly isSecure: boolean
  readonly pieces: readonly Buffer[]
}

/** What a conversation is made of. */
export interface PeerCorpus {
  /** The secret of the servers, and the process that is asked. */
  readonly secret: string
  readonly process: string
  /** The first bytes of a connection of a member: those of a handshake. */
  readonly hello: Buffer
}

const KEY = { namespaceId: 'public', group: 'G', dataId: 'a' }
const SERVICE = { namespaceId: 'public', groupedName: 'G@@s' }
const PLACE = { serviceKey: SERVICE, address: { ip: '10.0.0.1', port: 80, cluster: 'DEFAULT' } }

/** A valid question of each kind. */
const QUESTIONS: readonly (readonly [name: string, body: unknown])[] = [
  ['silence', [PLACE, PLACE]],
  ['standing', {}],
  ['heard-servers', {}],
  ['clock', {}],
  ['member-view', {}],
  ['watchers-of', KEY],
  ['clients-of', KEY],
  ['client-counts', [KEY, KEY]],
  ['watched-by', { ip: '127.0.0.1' }],
  ['condition', {}],
  ['subscribers', SERVICE],
  ['timeline', SERVICE],
  ['connected-clients', { text: 'a', most: 10 }],
  ['dismiss-client', { id: 'nobody', how: 'end' }],
]

const MOST_QUESTIONS = 4
/** Records of TLS: other versions, lengths and types than those of a handshake. */
const RECORDS = [
  Buffer.of(0x16, 3, 1, 0, 0),
  Buffer.of(0x16, 3, 1, 0xff, 0xff),
  Buffer.of(0x15, 3, 3, 0, 2, 2, 40),
  Buffer.of(0x17, 3, 3, 0x40, 0),
  Buffer.of(0x14, 3, 3, 0, 1, 1),
  Buffer.of(0x16, 2, 0, 0, 5, 1, 0, 0, 1, 0),
]

/** A conversation that a seed reproduces, but for the keys of TLS. */
export function peerConversation(corpus: PeerCorpus, random: Random): PeerConversation {
  if (random.chance(0.25))
    return { speaker: 'stranger', isSecure: false, pieces: cut(handshake(corpus, random), random) }
  const isMember = random.chance(0.7)
  const requests = Array.from({ length: 1 + random.below(MOST_QUESTIONS) }, () =>
    isMember ? question(corpus, random) : unsigned(corpus, random),
  )
  return {
    speaker: isMember ? 'member' : 'stranger',
    isSecure: isMember || random.chance(0.5),
    pieces: cut(Buffer.concat(requests), random),
  }
}

/** A request with a right signature of a changed body, or with a changed head. */
function question({ secret, process }: PeerCorpus, random: Random): Buffer {
  const [name, valid] = random.of(QUESTIONS)
  const all = QUESTIONS.map(([, body]) => Buffer.from(JSON.stringify(body)))
  const own = Buffer.from(JSON.stringify(valid))
  const body = random.chance(0.2) ? own : mutated(random.chance(0.8) ? [own] : all, random)
  const asked = { process, question: name, nonce: `n${random.below(1_000)}`, digest: digestOf(body) }
  const whole = request(name, body, {
    [HEADERS.nonce]: asked.nonce,
    [HEADERS.digest]: asked.digest,
    [HEADERS.signature]: signatureOf(secret, { kind: 'question', ...asked }),
  })
  return random.chance(0.8) ? whole : mutated([whole], random)
}

function unsigned(corpus: PeerCorpus, random: Random): Buffer {
  return mutated([question({ ...corpus, secret: 'a guess' }, random)], random)
}

function request(name: string, body: Buffer, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`)
  const head = `POST /${name} HTTP/1.1\r\nHost: a\r\n${lines.join('')}Content-Length: ${body.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

/** The beginning of a handshake: changed, cut, repeated, or with other records behind it. */
function handshake({ hello }: PeerCorpus, random: Random): Buffer {
  const first = random.chance(0.7)
    ? mutated([hello], random)
    : hello.subarray(0, random.below(hello.length + 1))
  const rest = Array.from({ length: random.below(4) }, () =>
    random.chance(0.3) ? hello : random.of(RECORDS),
  )
  return Buffer.concat([random.chance(0.1) ? random.of(RECORDS) : first, ...rest])
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const length = random.chance(0.6) ? bytes.length : 1 + random.below(200)
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return pieces
}
