import { describeClient } from './client-program.ts'

const ENDPOINT = ['endpoint: configurations are found', 'endpoint: services are found']

describeClient(
  {
    folder: 'go',
    hasLargeChecks: true,
    notOverTls: Object.fromEntries(
      ENDPOINT.map((name) => [name, 'the library asks an endpoint without TLS']),
    ),
    tools: ['go'],
    locks: ['go.mod', 'go.sum'],
    install: [['go', 'mod', 'download']],
    build: [['go', 'build', '-buildvcs=false', '-o', 'program', '.']],
    run: (address, scratch) => ['./program', address, scratch],
  },
  [
    'config: published content is read back',
    'config: an update replaces the content',
    'config: awkward content comes back byte for byte',
    'config: a large content comes back',
    'config: what does not exist is absent',
    'config: a removed item is absent',
    'config: namespaces and groups are separate',
    'config: a watcher sees changes made elsewhere',
    'config: a watcher in a namespace sees changes made elsewhere',
    'config: a search finds items',
    'naming: a registered instance is listed with all it says',
    'naming: an unknown service has no instances',
    'naming: clusters select instances',
    'naming: healthy and enabled instances are selected',
    'naming: groups and namespaces are separate',
    'naming: a deregistered instance leaves the list',
    'naming: an instance is modified',
    'naming: a subscriber is pushed every change at once',
    'naming: a long list is pushed too',
    'naming: a subscriber of one cluster is pushed that cluster',
    'naming: beats keep an instance',
    'naming: beats bring back an instance that was lost',
    'naming: the services of a group are listed',
    ...ENDPOINT,
  ],
)
