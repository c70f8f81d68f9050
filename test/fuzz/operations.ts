/** The operations of the OpenAPI document, and values for their parameters. */
import { withoutReferences } from '../support/without-references.ts'

/** One operation of the OpenAPI document. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly headers: readonly string[]
  /** Whether parameters may come as a form. */
  readonly takesForm: boolean
}

/** A parameter, with the part of its JSON Schema that is used to choose values. */
export interface Parameter {
  readonly name: string
  readonly type: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

interface DocumentedOperation {
  readonly parameters: readonly { in: string; name: string; schema: Omit<Parameter, 'name'> }[]
  readonly requestBody?: { content: Record<string, unknown> }
  readonly 'x-permission': { action: string; resource: string }
}

interface ApiDocument {
  readonly paths: Record<string, Record<string, DocumentedOperation>>
}

/**
 * The operations of a server, without operations that would change how it answers everything (switches), and operations that fill
 * the disk (backups).
 */
export async function operationsOf(url: string): Promise<Operation[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument
  return Object.entries(withoutReferences(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => isHarmless(operation['x-permission']))
      .map(([method, operation]) => toOperation(method.toUpperCase(), path, operation)),
  )
}

function isHarmless({ action, resource }: DocumentedOperation['x-permission']): boolean {
  return resource !== 'backup' && !(resource === 'operator' && action === 'write')
}

function toOperation(
  method: string,
  path: string,
  { parameters, requestBody }: DocumentedOperation,
): Operation {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  return {
    method,
    path,
    parameters: inQuery.map(({ name, schema }) => ({ ...schema, name, type: schema.type ?? 'string' })),
    headers: parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name),
    takesForm: requestBody?.content['application/x-www-form-urlencoded'] !== undefined,
  }
}

/** Valid values by the name of a parameter. */
export const GOOD_VALUES: Readonly<Record<string, readonly string[]>> = {
  dataId: ['app.yaml', 'fuzz-1', 'fuzz-2', '__proto__', 'constructor'],
  group: ['DEFAULT_GROUP', 'fuzz'],
  tenant: ['', 'public', 'fuzz-space', '__proto__'],
  namespaceId: ['', 'public', 'fuzz-space'],
  customNamespaceId: ['', 'fuzz-space'],
  namespace: ['fuzz-space'],
  content: ['a: 1\n', '{"a":1}', 'öffnen 文字 😀', 'x'.repeat(3_000)],
  type: ['yaml', 'json', 'text', 'nothing'],
  serviceName: ['fuzz.service', 'G@@fuzz.service', '__proto__'],
  groupName: ['DEFAULT_GROUP', 'G'],
  ip: ['127.0.0.1', '127.0.0.2', '127.0.0.3'],
  port: ['80', '8080'],
  clusterName: ['DEFAULT', 'c1', '__proto__', 'constructor'],
  cluster: ['DEFAULT'],
  clusters: ['', 'c1', 'c1,DEFAULT'],
  metadata: [
    '{"a":"b"}',
    'a=b,c=d',
    '{"__proto__":"x","constructor":1}',
    '{"preserved.heart.beat.timeout":"1000"}',
  ],
  beat: [
    '{"ip":"127.0.0.1","port":80,"cluster":"DEFAULT","weight":1,"metadata":{},"serviceName":"G@@fuzz.service"}',
  ],
  instances: ['[{"ip":"127.0.0.1","port":"80","ephemeral":"true","clusterName":"DEFAULT"}]'],
  selector: ['{"type":"none"}', '{"type":"label","expression":"CONSUMER.label.a = PROVIDER.label.a"}'],
  healthChecker: [
    '{"type":"TCP"}',
    '{"type":"HTTP","path":"/","headers":"a:b","expectedResponseCode":200}',
    '{"type":"NONE"}',
  ],
  ephemeral: ['true'],
  consistencyType: ['ephemeral', 'persist'],
  udpPort: ['0', '54321'],
  protectThreshold: ['0', '0.5', '1'],
  'Listening-Configs': [
    'app.yaml%02DEFAULT_GROUP%02%01',
    'app.yaml\u0002DEFAULT_GROUP\u0002d41d8cd98f00b204e9800998ecf8427e\u0002fuzz-space\u0001',
  ],
  namespaceName: ['fuzz'],
  namespaceShowName: ['fuzz'],
  search: ['accurate', 'blur'],
  show: ['all'],
  pageNo: ['1', '2'],
  pageSize: ['1', '10', '2147483647'],
  nid: ['1', '2', '9007199254740991'],
  id: ['1', '2'],
  casMd5: ['d41d8cd98f00b204e9800998ecf8427e'],
}

/** A valid value of a parameter, by its name or else by its schema. */
export function goodValues(parameter: Parameter): readonly string[] {
  const known = GOOD_VALUES[parameter.name]
  if (known !== undefined) return known
  if (parameter.enum !== undefined) return parameter.enum
  switch (parameter.type) {
    case 'boolean':
      return ['true', 'false']
    case 'integer':
    case 'number':
      return [String(parameter.minimum ?? 0), String(Math.min(parameter.maximum ?? 1, 1))]
    default:
      return ['fuzz']
  }
}

/** Values at and beyond the limits of a parameter. */
export function edgeValues({
  minimum = 0,
  maximum = 2 ** 31,
  maxLength = 256,
  type,
}: Parameter): readonly string[] {
  if (type === 'integer' || type === 'number') {
    const numbers = [minimum, maximum, minimum - 1, maximum + 1, -0, 2 ** 53, 1e308].map(String)
    return [...numbers, '', '1e999', 'NaN', '0x10', '٣', '1.5', '-', '+1', '9'.repeat(30), '0'.repeat(500)]
  }
  const length = Math.min(maxLength, 20_000)
  return [
    '',
    ' ',
    '\u0000',
    '\r\nSet-Cookie: a=b\r\n\r\n',
    '\u001b[31m',
    '"},{"',
    'x'.repeat(length),
    'x'.repeat(length + 1),
    '文'.repeat(Math.min(length, 2_000)),
    '😀',
    '\ufeff',
    '\u202e',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    '../../../../etc/passwd',
    '..%2f..%2f',
    '*',
    '%',
    "' OR 1=1 --",
    '${7*7}',
    '[]',
    '{}',
    'null',
    '{"a":',
    '['.repeat(5_000),
    '{"a":'.repeat(2_000) + '1' + '}'.repeat(2_000),
    '{"__proto__":{"polluted":"yes"}}',
    'a=b,'.repeat(300),
    '@@',
    'G@@',
    '@@S',
    ','.repeat(1_000),
  ]
}
