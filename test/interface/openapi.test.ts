import { expect, test } from 'vitest'
import { Client, serverForThisFile, type Json } from './client.ts'
import { withoutReferences } from '../support/without-references.ts'

const waypost = serverForThisFile()

/** Every operation of the interface document, with its parameters; those it requires are marked with a star. */
const instanceKey = 'serviceName* ip* port* groupName namespaceId'
const item = 'tenant dataId* group*'
const operations: [string, string, string][] = [
  ['get', '/svc/v1/cs/configs', item],
  ['post', '/svc/v1/cs/configs', `${item} content* type`],
  ['delete', '/svc/v1/cs/configs', item],
  ['post', '/svc/v1/cs/configs/listener', 'Listening-Configs* Long-Pulling-Timeout*'],
  ['get', '/svc/v1/cs/history', 'tenant dataId group pageNo pageSize nid search'],
  ['get', '/svc/v1/cs/history/previous', `${item} id*`],
  ['post', '/svc/v1/ns/instance', `${instanceKey} weight enabled healthy metadata clusterName ephemeral`],
  ['delete', '/svc/v1/ns/instance', `${instanceKey} ephemeral clusterName`],
  ['put', '/svc/v1/ns/instance', `${instanceKey} ephemeral clusterName weight enabled metadata`],
  ['get', '/svc/v1/ns/instance', `${instanceKey} ephemeral cluster`],
  ['get', '/svc/v1/ns/instance/list', 'serviceName* groupName namespaceId clusters healthyOnly'],
  ['put', '/svc/v1/ns/instance/beat', `${instanceKey} beat`],
  ['put', '/svc/v1/ns/health/instance', `${instanceKey} healthy* clusterName`],
  [
    'put',
    '/svc/v1/ns/instance/metadata/batch',
    'namespaceId* serviceName* consistencyType instances metadata*',
  ],
  [
    'delete',
    '/svc/v1/ns/instance/metadata/batch',
    'namespaceId* serviceName* consistencyType instances metadata*',
  ],
  ['post', '/svc/v1/ns/service', 'serviceName* groupName namespaceId protectThreshold metadata selector'],
  ['put', '/svc/v1/ns/service', 'serviceName* groupName namespaceId protectThreshold metadata selector'],
  ['delete', '/svc/v1/ns/service', 'serviceName* groupName namespaceId'],
  ['get', '/svc/v1/ns/service', 'serviceName* groupName namespaceId'],
  ['get', '/svc/v1/ns/service/list', 'pageNo* pageSize* groupName namespaceId'],
  ['get', '/svc/v1/ns/operator/switches', ''],
  ['put', '/svc/v1/ns/operator/switches', 'entry* value* debug'],
  ['get', '/svc/v1/ns/operator/metrics', ''],
  ['get', '/svc/v1/ns/operator/servers', 'healthy'],
  ['get', '/svc/v1/ns/raft/leader', ''],
  ['get', '/svc/v1/console/namespaces', ''],
  ['post', '/svc/v1/console/namespaces', 'customNamespaceId* namespaceName* namespaceDesc'],
  ['put', '/svc/v1/console/namespaces', 'namespace* namespaceShowName* namespaceDesc*'],
  ['delete', '/svc/v1/console/namespaces', 'namespaceId*'],
]

async function read(): Promise<Json> {
  const answer = await new Client(waypost.server.url).get('/openapi.json')
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  return withoutReferences(answer.json())
}

/** Names of the parameters of an operation, wherever they stand, each with whether it is required. */
function parametersOf(operation: Json): Map<string, boolean> {
  const found = new Map<string, boolean>()
  for (const parameter of operation.parameters ?? []) found.set(parameter.name, parameter.required === true)
  for (const media of Object.values<Json>(operation.requestBody?.content ?? {})) {
    for (const name of Object.keys(media.schema?.properties ?? {}))
      found.set(name, found.get(name) === true || (media.schema.required ?? []).includes(name))
  }
  return found
}

test('the document is OpenAPI 3 with a title and a version', async () => {
  const document = await read()
  expect(document.openapi).toMatch(/^3\./)
  expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
})

test.each(operations)('%s %s is described, with its parameters', async (method, path, names) => {
  const operation = (await read()).paths[path]?.[method]
  expect(operation, 'described').toBeDefined()
  const parameters = parametersOf(operation)
  for (const name of names.split(' ').filter(Boolean)) {
    const bare = name.replace('*', '')
    expect([...parameters.keys()]).toContain(bare)
    if (name.endsWith('*') && method === 'get') expect(parameters.get(bare), `${bare} required`).toBe(true)
  }
  expect(Object.keys(operation.responses)).toContain('200')
})

test('the limits that are checked are published', async () => {
  const { paths } = await read()
  const weight = JSON.stringify(paths['/svc/v1/ns/instance'].post)
  expect(weight).toMatch(/65535/)
  expect(weight).toMatch(/10000/)
})
