import type { Refusal, RefusalCode } from '../../core/refusal.ts'
import type { RefusalRow } from './refusal-row.ts'

/** Each refusal, in the order of docs/errors.md. */
export const REFUSALS: Readonly<Record<RefusalCode, RefusalRow>> = {
  forbidden: {
    http: 403,
    known: 'authorization failed!',
    title: 'Not permitted',
    meaning: 'The caller has no permission for this. An administrator can give it.',
  },
  'not-signed-in': {
    http: 403,
    known: 'unknown user!',
    title: 'Not signed in',
    meaning:
      'The server asks its callers to sign in, and the request has no token, session, or username and password.',
  },
  'other-user': {
    http: 409,
    title: 'Another user is signed in',
    meaning:
      'The request says by `Waypost-User` or `forUser` for whom it is meant, and the session in its cookie is another user’s. Nothing was done. The console loads itself again.',
  },
  'unknown-user': {
    http: 403,
    known: 'unknown user!',
    title: 'Unknown user or wrong password',
    meaning: 'No user has this name and password. The answer is the same whichever of the two is wrong.',
  },
  'token-invalid': {
    http: 403,
    known: 'token invalid!',
    title: 'The token is not valid',
    meaning:
      'The token was not made by this server, or its user, password, key or session has changed since. Sign in again.',
  },
  'token-expired': {
    http: 403,
    known: 'token expired!',
    title: 'The token has expired',
    meaning: 'Tokens count for `token-ttl` of docs/settings.md. Sign in again.',
  },
  'weak-password': {
    http: 400,
    title: 'The new password is easily guessed',
    meaning:
      'A new password has at least 10 characters and 5 different ones. It is not made of the username or the name of the product, and is not among the commonest ones. The setting `password-rule` turns this off.',
  },
  'wrong-code': {
    http: 403,
    title: 'The one-time code is wrong',
    meaning: 'The one-time code is in the log and on the terminal of the server. Each start makes a new one.',
  },
  'sign-in-slowed': {
    http: 429,
    title: 'Too many attempts to sign in',
    meaning:
      'Too many wrong passwords came from this address or for this user, or too many callers sign in at once. Retry-After says when to try again. Valid tokens still work.',
  },
  'administrator-exists': {
    http: 409,
    title: 'There is an administrator already',
    meaning: 'The first administrator is made once. Ask an administrator for a user.',
  },
  'last-administrator': {
    http: 400,
    nacos: 'cannot delete admin: {username}',
    title: 'The last administrator must stay',
    meaning: 'Without an administrator nobody could manage users. Make another one first.',
  },
  'user-exists': {
    http: 400,
    nacos: "user '{username}' already exist!",
    title: 'The user exists already',
    meaning: 'Names of users are unique. Take another name, or change the user.',
  },
  'user-not-found': {
    http: 404,
    nacos: 'user {username} not exist!',
    title: 'No such user',
    meaning: 'No user has this name.',
  },
  'role-not-found': {
    http: 404,
    nacos: 'role {role} not found!',
    title: 'No such role',
    meaning: 'No user has this role. Give the role to a user first.',
  },
  'config-not-found': {
    http: 404,
    grpc: 300,
    known: 'config data not exist',
    title: 'No such configuration item',
    meaning: 'No item has this tenant, group and dataId. Publish it, or check the three names.',
  },
  'config-changed': {
    http: 409,
    grpc: 500,
    known: 'Cas publish fail, server md5 may have changed.',
    title: 'The configuration item has changed',
    meaning:
      'The request named the md5 that it changes (casMd5; empty: there is no item), and the item has another one by now. Read it again.',
  },
  'gray-not-found': {
    http: 404,
    grpc: 300,
    title: 'No such gray version',
    meaning: 'The item has no gray version of this name: it was promoted or stopped, or never published.',
  },
  'gray-rule': {
    http: 400,
    title: 'The rule of the gray version is not valid',
    meaning:
      'The request says for whom the version is in a way that the server cannot read, or with a rule that is too large. The message says what is allowed.',
  },
  'gray-too-many': {
    http: 400,
    title: 'The item has as many gray versions as it may',
    meaning: 'An item has at most 10 gray versions. Promote or stop one.',
  },
  'history-not-found': {
    http: 404,
    title: 'No such history record',
    meaning: 'No history record has this id, or there is none before it. Take ids from the list.',
  },
  'history-not-yours': {
    http: 403,
    title: 'The history record belongs to another item',
    meaning:
      'The id is of another item than tenant, group and dataId name. A record is given only with its own names.',
  },
  'service-not-found': {
    http: 404,
    nacos: 'service {serviceName} not found!',
    title: 'No such service',
    meaning: 'Nobody has created this service or registered an instance in it.',
  },
  'service-exists': {
    http: 400,
    nacos: 'specified service {serviceName} already exists!',
    title: 'The service exists already',
    meaning: 'A service can be created once. Update it instead.',
  },
  'service-not-empty': {
    http: 400,
    nacos: "Service {serviceName} is not empty, can't be delete. Please unregister instance first",
    title: 'The service has instances',
    meaning: 'Deregister its instances first, then delete the service.',
  },
  'instance-not-found': {
    http: 404,
    title: 'No such instance',
    meaning:
      'No instance has this ip, port and cluster in the service, or it is of the other kind (ephemeral).',
  },
  'client-not-found': {
    http: 404,
    title: 'No such client is connected',
    meaning:
      'No client of gRPC has this connection to any server that has replied; the text names the other servers. It may have left.',
  },
  'instance-connected': {
    http: 409,
    title: 'The instance lives as long as its connection',
    meaning:
      'The client of this instance holds a connection, and the instance lives as long as that. Disable the instance, or close the connection. An instance whose server is gone can be removed.',
  },
  'adding-disabled': {
    http: 403,
    title: 'No new instances are taken',
    meaning: 'The switch disableAddIP is on: only instances that are there may register.',
  },
  'too-many-services': {
    http: 429,
    title: 'There are as many services as allowed',
    meaning:
      '`max-services` or `max-services-per-namespace` of docs/settings.md is reached. Known services still work. Delete some, or raise the setting.',
  },
  'too-many-instances': {
    http: 429,
    title: 'There are as many instances as allowed',
    meaning:
      '`max-instances` or `max-instances-per-namespace` of docs/settings.md is reached. Known instances still beat and change. Remove some, or raise the setting.',
  },
  'too-many-patterns': {
    http: 429,
    grpc: 50310,
    title: 'Too many patterns are watched',
    meaning:
      'A gRPC connection, or all together, watch as many patterns as they may: 100 on each, 100,000 in all. Or the names that they have still to receive take too much memory. HTTP never answers it.',
  },
  'too-many-matches': {
    http: 400,
    grpc: 50311,
    title: 'The pattern matches too many names',
    meaning:
      'More than 10,000 names match a pattern that a gRPC client wants to watch: watch a narrower one. HTTP never answers it.',
  },
  'too-many-subscriptions': {
    http: 429,
    title: 'There are as many subscriptions as allowed',
    meaning:
      'A gRPC connection, or all together, subscribe to as many services as the server allows. The message has the limit.',
  },
  'cluster-not-found': {
    http: 404,
    nacos: 'cluster {cluster} is not found!',
    title: 'No such cluster',
    meaning: 'The service has no instance in this cluster and nobody has configured it.',
  },
  'checker-not-none': {
    http: 400,
    nacos: 'health check is still working, service: {serviceName}, cluster: {cluster}',
    title: 'The cluster is health-checked',
    meaning: 'The health of an instance is set by hand only where the health checker of its cluster is NONE.',
  },
  'namespace-not-found': {
    http: 404,
    title: 'No such namespace',
    meaning: 'No namespace of this id is on the list.',
  },
  'switch-unknown': {
    http: 400,
    title: 'No such switch',
    meaning: 'No switch has this name; the answer lists those there are.',
  },
  'invalid-parameter': {
    http: 400,
    title: 'A parameter is not valid',
    meaning: 'The answer names the parameter and says what is allowed.',
  },
  'missing-parameter': {
    http: 400,
    title: 'A parameter is missing',
    meaning: 'The answer names the parameter. An empty one counts as absent.',
  },
  'malformed-request': {
    http: 400,
    title: 'The request cannot be read',
    meaning: 'The request is not what HTTP or its content type says: broken encoding, broken form.',
  },
  'unknown-transfer-coding': {
    http: 501,
    title: 'The transfer coding is not known',
    meaning: 'The body has another Transfer-Encoding than chunked. The connection ends.',
  },
  'bad-archive': {
    http: 400,
    title: 'The file cannot be imported',
    meaning: 'The zip file is damaged, has wrong metadata or no configuration. The answer says which.',
  },
  'too-large': {
    http: 413,
    title: 'The request is too large',
    meaning:
      'The content, the body or the request line with its headers is longer than a limit of docs/settings.md. Or the answer would be too large to be given at once.',
  },
  'too-many': {
    http: 400,
    title: 'The request has too many parts',
    meaning: 'The request has more than 1,000 parameters.',
  },
  'too-deep': {
    http: 400,
    title: 'A parameter is nested too deeply',
    meaning: 'A JSON parameter has more than 32 levels.',
  },
  'too-many-headers': {
    http: 431,
    title: 'The request has too many header fields',
    meaning: 'The request has more than 200 header fields.',
  },
  'too-many-requests': {
    http: 429,
    title: 'The connection has too many requests under way',
    meaning:
      'More than 256 requests were sent on one connection without waiting for answers. The connection ends; the surplus was not carried out.',
  },
  'too-many-searches': {
    http: 429,
    title: 'Too many searches are under way',
    meaning:
      'Eight searches or lists over everything are under way, 128 wait, and no other caller has more waiting ones. Try again after a second.',
  },
  'too-many-reads': {
    http: 503,
    title: 'Too many reads of history wait',
    meaning:
      'Five hundred reads of history, of the audit or of the clients of an item wait, and no other caller has more waiting reads. Try again after a second.',
  },
  'too-many-connections': {
    http: 503,
    title: 'There are too many connections',
    meaning:
      'As many connections are open as `max-connections`, or `max-connections-per-address`, allows. The connection ends.',
  },
  'too-slow': {
    http: 408,
    title: 'The request did not arrive in time',
    meaning:
      'The request took longer to arrive than `request-timeout` of docs/settings.md. The connection ends.',
  },
  'body-memory': {
    http: 503,
    title: 'The server is reading as much as it may',
    meaning:
      'The bodies that are being read take as much memory as `max-body-memory` allows, or this one was slow and gave way to others. Or as many contents wait to be written as the heap allows. Try again in a moment.',
  },
  'content-memory': {
    http: 507,
    title: 'The server holds as much as it may',
    meaning:
      'All data together would take more memory than this server has, or all contents more than `max-content-memory` allows. The detail names the data that take most. Delete what is not needed, or give the server more memory: docs/operations.md, Memory.',
  },
  'cross-site': {
    http: 403,
    title: 'A page of another site sent the request',
    meaning:
      'A web page of another site tried to change something through the browser of its visitor. Nothing was changed. For a page of this server behind a proxy that changes Host, add its host to `allowed-hosts` of docs/settings.md.',
  },
  'unknown-host': {
    http: 421,
    title: 'The host is no name of this server',
    meaning:
      'Browsers, and any program that reaches a server on a loopback address, must use an IP address, `localhost`, `advertise-host` or a name in `allowed-hosts` of docs/settings.md.',
  },
  'unknown-path': {
    http: 404,
    title: 'No such path',
    meaning: 'Check the spelling; /openapi.json has all paths.',
  },
  'unknown-method': {
    http: 405,
    title: 'The path has no such method',
    meaning: 'The header Allow lists the methods of the path.',
  },
  'server-status': {
    http: 503,
    nacos: 'server is {status}now, please try again later!',
    title: 'The server does not serve this now',
    meaning:
      'An operator has set overriddenServerStatus, or the server holds as many polls as it may. Try again later.',
  },
  'store-full': {
    http: 507,
    title: 'The store has no room',
    meaning:
      'Less room is left than `store-reserve` of docs/settings.md: free space on the disk of the data directory, or in etcd (docs/operations.md, "Store full"). Nothing was written. Publishes, imports, namespaces, services made by operators and metadata are refused. Registrations, beats, sessions, users and deletions are not, unless etcd has raised its alarm NOSPACE.',
  },
  damaged: {
    http: 500,
    title: 'The store has a damaged value',
    meaning:
      'A value in etcd that this change depends on cannot be read; the text names its key. Nothing was written. `waypost doctor --store etcd` names all such keys. Remove the key, or restore a backup (docs/cluster.md, "Damaged keys").',
  },
  'store-unavailable': {
    http: 500,
    title: 'The store cannot be written',
    meaning:
      'The change could not be written (disk full, I/O error) and does not hold. The log of the server says more.',
  },
  'cut-off': {
    http: 503,
    title: 'This server is cut off from the others',
    meaning:
      'This server alone has lost the store that it shares with others, and its lease has ended. Use another server. This one resumes by itself (docs/cluster.md).',
  },
  'backup-refused': {
    http: 409,
    title: 'No backup is begun now',
    meaning: 'One is being made, or `max-backups` of docs/settings.md are there. The answer says which.',
  },
  'backup-failed': {
    http: 500,
    title: 'The backup could not be made',
    meaning:
      'The server still works, and nothing of the backup is left. The answer says why, e.g. that there is no room for it.',
  },
  stopping: {
    http: 503,
    title: 'The server is stopping',
    meaning: 'The server is being stopped. Try again in a moment.',
  },
}

/** The text that clients know for a refusal, or its own sentence. */
export const knownText = ({ code, message }: Refusal): string => REFUSALS[code].known ?? message
