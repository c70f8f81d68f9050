import { copyJars, JAVA_TOOLS } from '../prepared-program.ts'
import { type LibraryProgram, type LibraryVersion, tested } from './library.ts'

/** Most applications have 2.x, which Spring Cloud Alibaba 2021 to 2023 brings. This is the newest that is tested. */
const USUAL = '2.5.1'

const ALL: readonly LibraryVersion[] = [
  {
    version: '2.0.4',
    says: 'Nacos-Java-Client:v2.0.4',
    lacks: { 'naming: several instances are registered together': 'came with 2.1.0' },
    lacksTls: 'came with 2.2.1',
    signsInLate: true,
  },
  { version: '2.5.1', says: 'Nacos-Java-Client:v2.5.1' },
  { version: '3.0.3', says: 'Nacos-Java-Client:v3.0.3' },
]

const VERSIONS = tested(ALL, USUAL)

/** The last version that uses HTTP and beats. It has the same methods, but for several instances together. */
export const JAVA_1: LibraryVersion = { version: '1.4.8' }

const SMALL = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xss512k']

/** The program with the Java library. */
export const JAVA: LibraryProgram = {
  language: 'Java',
  tools: JAVA_TOOLS,
  folder: 'grpc/java',
  versions: VERSIONS,
  locks: ['pom.xml'],
  install: [...VERSIONS, JAVA_1].map(({ version }) => copyJars(`lib-${version}`, { nacos: version })),
  build: [['sh', '-c', `javac -encoding UTF-8 -cp 'lib-${USUAL}/*' -d classes *.java`]],
  run: (version, scratch, caFile) => [
    'java',
    ...SMALL,
    ...(caFile === undefined ? [] : trusting(caFile)),
    `-Duser.home=${scratch}`,
    `-DJM.SNAPSHOT.PATH=${scratch}`,
    `-DJM.LOG.PATH=${scratch}`,
    '-cp',
    `classes:lib-${version}/*`,
    'Program',
  ],
}

/** For the sign-in over HTTP, and for gRPC. */
function trusting(caFile: string): string[] {
  return [
    '-Dtls.enable=true',
    '-Dtls.client.authServer=true',
    `-Dtls.client.trustCertPath=${caFile}`,
    '-Dnacos.remote.client.rpc.tls.enable=true',
    `-Dnacos.remote.client.rpc.tls.trustCollectionChainPath=${caFile}`,
  ]
}
