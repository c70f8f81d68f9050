import { describeClient, ENDPOINT_CHECKS, PUSH_CHECKS } from './client-program.ts'
import { copyJars, JAVA_TOOLS } from './prepared-program.ts'

describeClient(
  {
    folder: 'java',
    tools: JAVA_TOOLS,
    locks: ['pom.xml'],
    install: [copyJars('lib')],
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
    ...PUSH_CHECKS,
    ...ENDPOINT_CHECKS,
    'config: the type of a content reaches its listener',
    'config: the server is UP',
    'naming: a subscriber is pushed the end of the last instance',
    'naming: a subscriber of one cluster is pushed that cluster',
    'naming: beats bring back an instance that was lost',
    'naming: beats bring back an instance without metadata',
    'naming: a full beat that is late brings nothing back',
    'naming: a light beat that is late brings nothing back',
    'naming: services are filtered by the metadata of their instances',
    'naming: the services of a group are listed',
    'naming: the server is UP',
    'maintenance: a service is created, read, updated and deleted',
    'maintenance: a created service takes ephemeral instances',
    'maintenance: an instance is modified',
  ],
)
