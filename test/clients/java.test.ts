import { describeClient } from './client-program.ts'

const ENDPOINT = ['endpoint: configurations are found', 'endpoint: services are found']

describeClient(
  {
    folder: 'java',
    hasLargeChecks: true,
    tools: ['java', 'javac', 'mvn'],
    locks: ['pom.xml'],
    install: [['mvn', '-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib']],
    notOverTls: Object.fromEntries(
      ENDPOINT.map((name) => [name, 'the library asks an endpoint without TLS']),
    ),
    build: [['sh', '-c', "javac -encoding UTF-8 -cp 'lib/*' -d classes *.java"]],
    run: (address, scratch, caFile) => [
      'java',
      ...(caFile === undefined
        ? []
        : ['-Dtls.enable=true', '-Dtls.client.authServer=true', `-Dtls.client.trustCertPath=${caFile}`]),
      `-Duser.home=${scratch}`,
      `-DJM.SNAPSHOT.PATH=${scratch}`,
      `-DJM.LOG.PATH=${scratch}`,
      '-cp',
      'classes:lib/*',
      'Program',
      address,
    ],
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
    'config: the type of a content reaches its listener',
    'config: the server is UP',
    'naming: a registered instance is listed with all it says',
    'naming: an unknown service has no instances',
    'naming: clusters select instances',
    'naming: healthy and enabled instances are selected',
    'naming: groups and namespaces are separate',
    'naming: a deregistered instance leaves the list',
    'naming: a subscriber is pushed every change at once',
    'naming: a long list is pushed too',
    'naming: a subscriber is pushed the end of the last instance',
    'naming: a subscriber of one cluster is pushed that cluster',
    'naming: beats keep an instance',
    'naming: beats bring back an instance that was lost',
    'naming: beats bring back an instance without metadata',
    'naming: services are filtered by the metadata of their instances',
    'naming: the services of a group are listed',
    'naming: the server is UP',
    'maintenance: a service is created, read, updated and deleted',
    'maintenance: a created service takes ephemeral instances',
    'maintenance: an instance is modified',
    ...ENDPOINT,
  ],
)
