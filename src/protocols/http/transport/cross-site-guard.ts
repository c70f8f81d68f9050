import { isLoopback } from '../../../core/text/ip-address.ts'
import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../../core/refusal.ts'
import { shown } from '../../../core/text/shown.ts'
import { mayBeOfBrowser } from './browser-signs.ts'

/** The names of the server, besides IP addresses and `localhost`. */
export interface HostNames {
  /** The host that the server tells others to use, or ''. */
  readonly advertiseHost: string
  /** Hosts with or without a port, as in the setting `allowed-hosts`. */
  readonly allowedHosts: readonly string[]
}

/** A host and port as a header names them. `port` is undefined in a header without a port. */
interface HostAndPort {
  readonly name: string
  readonly port: number | undefined
}

interface Origin {
  readonly name: string
  readonly port: number
  /** The port of a Host without one, if it is the same place. */
  readonly defaultPort: number
}

/**
 * Refuses writes that a web page of another site sends through the browser of its visitor (403 `cross-site`). Refuses all
 * requests under a name that is not this server's, as after DNS rebinding (421 `unknown-host`). docs/security.md explains the rules.
 */
export class CrossSiteGuard {
  readonly #names: ReadonlySet<string>
  readonly #allowed: readonly HostAndPort[]
  readonly #isOpen: boolean
  #isLoopbackOnly = false
  /** The Host that was accepted last: nearly all requests have the same. */
  #acceptedHost: string | undefined

  /**
   * `isOpen`: a caller without credentials may do everything. Throws an Error for an allowed host that cannot be read.
   */
  constructor({ advertiseHost, allowedHosts }: HostNames, isOpen = false) {
    this.#isOpen = isOpen
    this.#allowed = allowedHosts.map(allowedPlace)
    const own = advertiseHost === '' ? [] : [normalName(advertiseHost)]
    this.#names = new Set(['localhost', ...own, ...this.#allowed.map(({ name }) => name)])
  }

  /** The server listens on this address; on a loopback address it judges the Host of more requests. */
  listensOn(address: string): void {
    this.#isLoopbackOnly = isLoopback(address)
  }

  /** Why a request is refused, undefined where it is not. Reads the head of the request only. */
  refusalOf({ method, url = '', headers }: IncomingMessage): Refusal | undefined {
    const { origin, 'sec-fetch-site': site, 'user-agent': agent } = headers
    const isBrowser = origin !== undefined || site !== undefined || agent?.startsWith('Mozilla/') === true
    const isSuspected = this.#isOpen && mayBeOfBrowser(headers)
    const judgesHost = isBrowser || isSuspected || (this.#isLoopbackOnly && agent !== undefined)
    if (!judgesHost) return undefined
    // An absolute-form target overrides Host (RFC 9112, section 3.2.2).
    const host = url.startsWith('/') ? headers.host : (authorityOf(url) ?? headers.host)
    if (host !== undefined && !this.#answersTo(host)) return unknownHost(host)
    if (isRead(method)) return undefined
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return crossSite(origin)
    return origin === undefined || this.#isOwnOrigin(origin, host) ? undefined : crossSite(origin)
  }

  #answersTo(host: string): boolean {
    if (host === this.#acceptedHost) return true
    const place = placeOf(host)
    const isOwn = place !== undefined && (isIP(place.name) !== 0 || this.#names.has(place.name))
    if (isOwn) this.#acceptedHost = host
    return isOwn
  }

  /** Whether a page of this origin is the server's own: it has the host of the request, or an allowed host. */
  #isOwnOrigin(text: string, host: string | undefined): boolean {
    const origin = originOf(text)
    if (origin === undefined) return false
    const requested = host === undefined ? undefined : placeOf(host)
    return isAt(origin, requested) || this.#allowed.some((allowed) => isAt(origin, allowed))
  }
}

function isAt({ name, port, defaultPort }: Origin, place: HostAndPort | undefined): boolean {
  return place !== undefined && place.name === name && (place.port ?? defaultPort) === port
}

/** Methods without an effect. */
function isRead(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 }

/** The origin in the header; undefined for `null`, for several, and for schemes other than http and https. */
function originOf(text: string): Origin | undefined {
  const [, scheme = '', authority = ''] = /^(https?):\/\/([^/]*)$/i.exec(text) ?? []
  const defaultPort = DEFAULT_PORTS[scheme.toLowerCase()]
  const place = placeOf(authority)
  if (place === undefined || defaultPort === undefined) return undefined
  return { name: place.name, port: place.port ?? defaultPort, defaultPort }
}

/** The `host:port` of an absolute-form request target. */
function authorityOf(url: string): string | undefined {
  return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]
}

/** Reads `name`, `name:port`, `[IPv6]` or `[IPv6]:port`; undefined for other texts. */
function placeOf(text: string): HostAndPort | undefined {
  const [, ipv6, plain, digits] = /^(?:\[([^\]]*)\]|([^:[\]@/\s,]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const name = ipv6 ?? plain
  if (name === undefined || (ipv6 !== undefined && isIP(ipv6) !== 6)) return undefined
  return { name: normalName(name), port: digits === undefined ? undefined : Number(digits) }
}

/** A name in lower case and without the dot at its end, as DNS compares names. */
function normalName(name: string): string {
  const lower = name.toLowerCase()
  return lower.endsWith('.') ? lower.slice(0, -1) : lower
}

function allowedPlace(entry: string): HostAndPort {
  const place = placeOf(entry)
  if (place === undefined)
    throw new Error(`"${entry}" is not a host name such as waypost.example or waypost.example:8443.`)
  return place
}

function unknownHost(host: string): Refusal {
  const allowed = 'an IP address, localhost, advertise-host or a name in the setting allowed-hosts'
  const message = `The host of this request, ${shown(host)}, is not a name of this server. Use ${allowed}.`
  return new Refusal('unknown-host', message, { allowed })
}

function crossSite(origin: string | undefined): Refusal {
  const whose = origin === undefined ? '' : ` (its Origin is ${shown(origin)})`
  const message =
    `A page of another site sent this request${whose}. A page of this server behind a proxy that changes Host ` +
    `needs its host in the setting allowed-hosts.`
  return new Refusal('cross-site', message, {
    allowed: 'pages of this server, and of hosts in the setting allowed-hosts',
  })
}
