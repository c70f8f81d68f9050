import { createPublicKey, X509Certificate } from 'node:crypto'
import { type Schema, SVC_RULES } from './schema.ts'
import type { Metadata } from '../../core/naming/state/instance.ts'
import type { HttpChecker, SentChecker, SentMysqlChecker } from '../../core/naming/state/health-checker.ts'
import { labelsOfExpression } from '../../core/naming/state/label-selector.ts'
import type { Selector } from '../../core/naming/state/service.ts'
import { Refusal } from '../../core/refusal.ts'
import * as fields from './fields.ts'
import { checkJsonSize } from './json-depth.ts'
import { MOST_KEYS, parseJson, parseJsonObject, toMetadata } from './metadata-text.ts'
import {
  compileField,
  invalid,
  type FieldSchema,
  type FieldValue,
  type ParseField,
} from './parameter-field.ts'

export { parseMetadata } from './metadata-text.ts'

/** The content of a beat; members that are absent, null or '' are undefined. */
export interface Beat {
  readonly ip: string
  readonly port: number
  readonly cluster: string | undefined
  readonly weight: number | undefined
  readonly metadata: Metadata | undefined
  readonly serviceName: string | undefined
  readonly ephemeral: boolean | undefined
}

/** Names one instance of a service in a batch. */
export interface SentLocator {
  readonly ip: string
  readonly port: number
  readonly ephemeral: boolean
  readonly clusterName: string | undefined
}

type JsonObject = Record<string, unknown>

/** A member of a JSON parameter, checked by the schema of the parameter of the same meaning. */
interface JsonMember {
  readonly path: string
  readonly key: string
  readonly parse: ParseField
}

function member(parameter: string, key: string, schema: Schema): JsonMember {
  const path = `${parameter}.${key}`
  return { path, key, parse: compileField(path, schema as FieldSchema, SVC_RULES) }
}

const BEAT = {
  ip: member('beat', 'ip', fields.ip),
  port: member('beat', 'port', fields.port),
  cluster: member('beat', 'cluster', fields.clusterName),
  weight: member('beat', 'weight', fields.weight),
  serviceName: member('beat', 'serviceName', fields.serviceName),
  ephemeral: member('beat', 'ephemeral', fields.ephemeral),
}

const LOCATOR = {
  ip: member('instances', 'ip', fields.ip),
  port: member('instances', 'port', fields.port),
  ephemeral: member('instances', 'ephemeral', fields.ephemeral),
  clusterName: member('instances', 'clusterName', fields.clusterName),
}

/**
 * Reads a beat; numbers may be sent as texts, unknown members are ignored. Checked as a registration is,
 * because a beat of an unknown instance registers it.
 */
export function parseBeat(text: string, { maxMetadataBytes }: { maxMetadataBytes: number }): Beat {
  checkJsonSize('beat', text, MOST_KEYS)
  const json = parseJsonObject(text, 'beat', 'a JSON object with ip and port')
  return {
    ip: required(BEAT.ip, json) as string,
    port: required(BEAT.port, json) as number,
    cluster: optional(BEAT.cluster, json) as string | undefined,
    weight: optional(BEAT.weight, json) as number | undefined,
    metadata: beatMetadata(json['metadata'], maxMetadataBytes),
    serviceName: optional(BEAT.serviceName, json) as string | undefined,
    ephemeral: optional(BEAT.ephemeral, json) as boolean | undefined,
  }
}

function beatMetadata(value: unknown, maxBytes: number): Metadata | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'object' && !Array.isArray(value)) return toMetadata(value, 'beat.metadata', maxBytes)
  throw invalid('beat.metadata', 'a JSON object', scalarText(value))
}

/** The most instances that one batch may name. */
const MAX_LOCATORS = 10_000

/** Reads the `instances` of a batch; `ephemeral` defaults to true. */
export function parseInstanceLocators(text: string): SentLocator[] {
  const allowed = 'a JSON array of objects with ip, port, ephemeral and clusterName'
  const list = parseJson(text, 'instances', allowed)
  if (!Array.isArray(list)) throw invalid('instances', allowed, text)
  if (list.length > MAX_LOCATORS) throw invalid('instances', `at most ${MAX_LOCATORS} instances`, text)
  return list.map((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) throw invalid('instances', allowed, text)
    const json = entry as JsonObject
    return {
      ip: required(LOCATOR.ip, json) as string,
      port: required(LOCATOR.port, json) as number,
      ephemeral: (optional(LOCATOR.ephemeral, json) as boolean | undefined) ?? true,
      clusterName: optional(LOCATOR.clusterName, json) as string | undefined,
    }
  })
}

const SELECTOR_ALLOWED = '{"type":"none"} or {"type":"label","expression":"…"}'

/** Reads a service's selector; absent and empty texts are `none` (http-compat.md section 4). */
export function parseSelector(text: string | undefined): Selector {
  if (text === undefined || text.trim() === '') return { type: 'none' }
  const json = parseJsonObject(text, 'selector', SELECTOR_ALLOWED)
  if (json['type'] === 'none') return { type: 'none' }
  if (json['type'] !== 'label') throw invalid('selector.type', 'none or label', scalarText(json['type']))
  const expression = json['expression']
  if (typeof expression !== 'string') throw invalid('selector.expression', 'a text', scalarText(expression))
  // Core parses it when instances are listed; an expression that it cannot parse is refused here.
  labelsOfExpression(expression)
  return { type: 'label', expression }
}

/**
 * The expression of the selector by which a list of services is filtered; '' where it filters nothing. Core ignores an
 * expression that it cannot read.
 */
export function parseServiceFilter(text: string | undefined): string {
  if (text === undefined || text.trim() === '') return ''
  const json = parseJsonObject(text, 'selector', SELECTOR_ALLOWED)
  if (json['type'] === 'none') return ''
  if (json['type'] !== 'label') throw invalid('selector.type', 'none or label', scalarText(json['type']))
  const expression = json['expression'] ?? ''
  if (typeof expression !== 'string') throw invalid('selector.expression', 'a text', scalarText(expression))
  return expression
}

/**
 * Reads the health checker of a cluster; the type in any case. An unknown type is refused, or NONE
 * if `unknownIsNone` (as clients of `/nacos` expect).
 */
export function parseHealthChecker(text: string, { unknownIsNone }: { unknownIsNone: boolean }): SentChecker {
  const json = checkerObject(text)
  const type = scalarText(json['type']).toUpperCase()
  switch (type) {
    case 'TCP':
    case 'NONE':
      return { type }
    case 'HTTP':
      return httpChecker(json)
    case 'MYSQL':
      return mysqlChecker(json)
    default:
      if (unknownIsNone) return { type: 'NONE' }
      throw invalid('healthChecker.type', 'one of TCP, HTTP, MYSQL, NONE', scalarText(json['type']))
  }
}

/** Shown in a refusal instead of a text that may hold a password. */
const NOT_SHOWN = '…'

function checkerObject(text: string): JsonObject {
  const allowed = 'a JSON object with type TCP, HTTP, MYSQL or NONE'
  try {
    return parseJsonObject(text, 'healthChecker', allowed)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw invalid('healthChecker', allowed, NOT_SHOWN)
  }
}

function mysqlChecker(json: JsonObject): SentMysqlChecker {
  return {
    type: 'MYSQL',
    user: checkerText(json, 'user'),
    pwd: sentText(json, 'pwd'),
    cmd: checkerText(json, 'cmd'),
    publicKey: checkedPem(json, 'publicKey'),
    ca: checkedPem(json, 'ca'),
  }
}

function httpChecker(json: JsonObject): HttpChecker {
  const path = checkerText(json, 'path')
  const headers = checkerText(json, 'headers')
  // Both become part of a request that this server sends.
  if (!/^(\/[\x21-\x7e]*)?$/.test(path))
    throw invalid('healthChecker.path', 'empty, or a path that starts with /', path)
  if (!headers.split('|').every(isHeader))
    throw invalid('healthChecker.headers', 'name:value|name2:value2', NOT_SHOWN)
  const code = optional(EXPECTED_CODE, json) as number | undefined
  return { type: 'HTTP', path, headers, expectedResponseCode: code ?? 200 }
}

const EXPECTED_CODE = member('healthChecker', 'expectedResponseCode', {
  type: 'integer',
  minimum: 100,
  maximum: 599,
} as Schema)

function isHeader(text: string): boolean {
  return text === '' || /^[\w!#$%&'*+.^`~-]+(:[\x20-\x7e]*)?$/.test(text)
}

function checkerText(json: JsonObject, key: string): string {
  return sentText(json, key) ?? ''
}

function sentText(json: JsonObject, key: string): string | undefined {
  const value = json[key]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && value.length <= 4096) return value
  throw invalid(`healthChecker.${key}`, 'a text of at most 4096 characters', NOT_SHOWN)
}

const PEM = {
  publicKey: {
    isRead: isRsaKey,
    allowed: 'empty, or an RSA public key of 2048 to 4096 bits in PEM (PUBLIC KEY)',
  },
  ca: { isRead: areCertificates, allowed: 'empty, or certificates in PEM' },
}

/** Never repeats the text in a refusal: it may be a private key by mistake. */
function checkedPem(json: JsonObject, key: keyof typeof PEM): string | undefined {
  const text = sentText(json, key)?.trim()
  if (text === undefined || text === '') return text
  const { isRead, allowed } = PEM[key]
  try {
    if (isRead(text)) return text
  } catch {
    // Not readable: refused below.
  }
  throw invalid(`healthChecker.${key}`, allowed, NOT_SHOWN)
}

/** Each sign-in may encrypt with the key, which takes longer for larger ones, and for exponents that no tool makes. */
function isRsaKey(text: string): boolean {
  if (!/^-----BEGIN PUBLIC KEY-----[\w+/=\s]+-----END PUBLIC KEY-----$/.test(text)) return false
  const { asymmetricKeyType, asymmetricKeyDetails: details } = createPublicKey(text)
  const { modulusLength: bits = 0, publicExponent = 0n } = details ?? {}
  return asymmetricKeyType === 'rsa' && bits >= 2048 && bits <= 4096 && publicExponent <= 65_537n
}

function areCertificates(text: string): boolean {
  const blocks = text.split(/(?<=-----END CERTIFICATE-----)\s+/)
  return blocks.every((block) => {
    if (!/^-----BEGIN CERTIFICATE-----[\w+/=\s]+-----END CERTIFICATE-----$/.test(block)) return false
    return new X509Certificate(block).publicKey !== undefined
  })
}

function required(part: JsonMember, json: JsonObject): FieldValue {
  const value = optional(part, json)
  if (value !== undefined) return value
  throw new Refusal('missing-parameter', `${part.path} is required.`, { parameter: part.path })
}

/** A member's value; undefined where it is absent, null or empty. */
function optional({ path, key, parse }: JsonMember, json: JsonObject): FieldValue | undefined {
  const value = Object.hasOwn(json, key) ? json[key] : undefined
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'object') throw invalid(path, 'a text, a number or a boolean', scalarText(value))
  return parse(scalarText(value))
}

/** A JSON value as refusals show it. Objects are not serialized: they may be deep. */
function scalarText(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'a list or an object' : `${value as FieldValue}`
}
