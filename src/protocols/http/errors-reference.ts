import { Refusal, type RefusalCode } from '../../core/refusal.ts'
import { configErrors, namingErrors } from './nacos/nacos-errors.ts'
import { problemErrors, problemType } from './errors/problem.ts'
import type { ErrorFormat } from './routing/route.ts'
import { TITLE_OF } from './errors/status-codes.ts'

/** When each refusal is given, and what to do about it. */
const MEANING_OF = {
  forbidden: 'The caller has no permission for this. An administrator can give it.',
  'not-signed-in':
    'The server asks its callers to sign in, and the request has no token, session, or username and password.',
  'unknown-user': 'No user has this name and password. The answer is the same whichever of the two is wrong.',
  'token-invalid':
    'The token was not made by this server, or its user, password, key or session has changed since. Sign in again.',
  'token-expired': 'Tokens count for `token-ttl` of docs/settings.md. Sign in again.',
  'wrong-code':
    'The one-time code is in the log and on the terminal of the server, and a new one after each start.',
  'sign-in-slowed':
    'Too many wrong passwords came from this address or for this user, or too many callers sign in at once. Retry-After says when to try again. Tokens that are valid go on.',
  'administrator-exists': 'The first administrator is made once. Ask an administrator for a user.',
  'last-administrator': 'Without an administrator nobody could manage users. Make another one first.',
  'user-exists': 'Names of users are unique. Take another name, or change the user.',
  'user-not-found': 'No user has this name.',
  'role-not-found': 'No user has this role. Give the role to a user first.',
  'config-not-found': 'No item has this tenant, group and dataId. Publish it, or check the three names.',
  'config-changed':
    'The request named the md5 that it changes (casMd5; empty: there is no item), and the item has another one by now. Read it again.',
  'history-not-found': 'No history record has this id, or there is none before it. Take ids from the list.',
  'history-not-yours':
    'The id is of another item than tenant, group and dataId name. A record is given only with its own names.',
  'service-not-found': 'Nobody has created this service or registered an instance in it.',
  'service-exists': 'A service can be created once. Update it instead.',
  'service-not-empty': 'Deregister its instances first, then delete the service.',
  'instance-not-found':
    'No instance has this ip, port and cluster in the service, or it is of the other kind (ephemeral).',
  'client-not-found':
    'No client of gRPC has this connection to any server that has replied; the text names those that have not. It may have left.',
  'instance-connected':
    'The client of this instance holds a connection, and the instance lives as long as that. Disable the instance, or close the connection. An instance whose server is gone can be removed.',
  'adding-disabled': 'The switch disableAddIP is on: only instances that are there may register.',
  'too-many-services':
    '`max-services` or `max-services-per-namespace` of docs/settings.md is reached. Known services go on. Delete some, or raise the setting.',
  'too-many-instances':
    '`max-instances` or `max-instances-per-namespace` of docs/settings.md is reached. Known instances still beat and change. Remove some, or raise the setting.',
  'too-many-patterns':
    'A gRPC connection, or all together, watch as many patterns as they may: 100 on each, 100,000 in all. HTTP never answers it.',
  'too-many-matches':
    'More than 10,000 names match a pattern that a gRPC client wants to watch: watch a narrower one. HTTP never answers it.',
  'too-many-subscriptions':
    'A gRPC connection, or all together, subscribe to as many services as the server allows. The message has the limit.',
  'cluster-not-found': 'The service has no instance in this cluster and nobody has configured it.',
  'checker-not-none':
    'The health of an instance is set by hand only where the health checker of its cluster is NONE.',
  'namespace-not-found': 'No namespace of this id is on the list.',
  'switch-unknown': 'No switch has this name; the answer lists those there are.',
  'invalid-parameter': 'The answer names the parameter and says what is allowed.',
  'missing-parameter': 'The answer names the parameter. An empty one counts as absent.',
  'malformed-request': 'The request is not what HTTP or its content type says: broken encoding, broken form.',
  'too-large':
    'The content, the body or the request line with its headers is longer than a limit of docs/settings.md, or what was asked for is too large to be answered at once.',
  'too-many': 'The request has more parameters than `max-parameters` of docs/settings.md allows.',
  'too-deep': 'A JSON parameter is nested more deeply than `max-json-depth` of docs/settings.md allows.',
  'too-many-headers': 'The request has more header fields than `max-headers` of docs/settings.md allows.',
  'too-many-requests':
    'More than `max-pipelined-requests` were sent on one connection without waiting for answers. The connection ends; the surplus was not carried out.',
  'too-many-searches':
    'Eight searches or lists over everything are under way in the console’s interface, and 128 wait. Try again after a second.',
  'too-many-connections':
    'As many connections are open as `max-connections`, or `max-connections-per-address`, allows. The connection ends.',
  'too-slow':
    'The request took longer to arrive than `request-timeout` of docs/settings.md. The connection ends.',
  'body-memory':
    'The bodies that are being read take as much memory as `max-body-memory` allows, or this one was slow and gave way to others. Try again in a moment.',
  'content-memory':
    'All contents together would take more memory than `max-content-memory` allows. Delete what is not needed, or raise it.',
  'cross-site':
    'A web page of another site tried to change something through the browser of its visitor. Nothing was changed. For a page of this server behind a proxy that changes Host, add its host to `allowed-hosts` of docs/settings.md.',
  'unknown-host':
    'Browsers, and any program that reaches a server on a loopback address, must use an IP address, `localhost`, `advertise-host` or a name in `allowed-hosts` of docs/settings.md.',
  'unknown-path': 'Check the spelling; docs/openapi.json has all paths.',
  'unknown-method': 'The header Allow lists the methods of the path.',
  'server-status':
    'An operator has set overriddenServerStatus, or the server holds as many polls as it may. Try again later.',
  'cut-off':
    'This server alone has lost the store that it shares with others, and its lease has ended. Use another server; it goes on by itself (docs/cluster.md).',
  'store-full':
    'Less room is left than `store-reserve` of docs/settings.md: free space on the disk of the data directory, or in etcd (docs/operations.md, "Store full"). Nothing was written. Publishes, imports, namespaces, services made by operators and metadata are refused. Registrations, beats, sessions, users and deletions are not.',
  'store-unavailable':
    'The change could not be written (disk full, I/O error) and does not hold. The log of the server says more.',
  'backup-refused':
    'One is being made already, or `max-backups` of docs/settings.md are there. The answer says which.',
  'backup-failed':
    'The server goes on and nothing of the backup is left. The answer says why, e.g. that there is no room for it.',
  stopping: 'The server is being stopped. Try again in a moment.',
} satisfies Record<RefusalCode, string>

const INTRODUCTION = `# Errors

<!-- Made by \`npm run docs\` from src/protocols/http/errors-reference.ts and the tables it reads: change it there. -->

A request that is not carried out changes nothing. \`/svc\` answers problem details (RFC 9457): a JSON object with
\`type\`, \`title\`, \`status\` and \`detail\`, and where they apply \`parameter\` (what it is about) and \`allowed\`.
\`type\` is \`${problemType('<code>')}\`; programs may rely on it. \`/nacos\` answers the text that its clients know, and
in a few cases another status: the columns say which, for the configuration part (with console and core) and for
naming (\`ns\`).

| Code | \`/svc\` | \`/nacos\` configuration | \`/nacos\` naming | Title | When, and what to do |
|---|---|---|---|---|---|
`

const FAULT = `
Anything else is a fault of the server: 500, \`${problemType('internal')}\`, with an \`instance\` that is also in the
server's log beside the cause. Please report it.
`

/** The reference of errors, docs/errors.md, made by asking the formats themselves. */
export function errorsReference(): string {
  const codes = Object.keys(TITLE_OF) as RefusalCode[]
  return INTRODUCTION + codes.map(row).join('') + FAULT
}

function row(code: RefusalCode): string {
  const statuses = [problemErrors, configErrors, namingErrors].map((format) => statusOf(format, code))
  return `| \`${code}\` | ${statuses.join(' | ')} | ${TITLE_OF[code]} | ${MEANING_OF[code]} |\n`
}

function statusOf(format: ErrorFormat, code: RefusalCode): number {
  return format(new Refusal(code, ''), { method: 'GET', path: '/', requestId: '' }).status
}
