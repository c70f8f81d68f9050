import type { Operations } from '../../../../operations/operations.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import {
  ANSWERS_TRUE,
  answersJson,
  Json,
  jsonAnswer,
  TRUE_JSON,
  pageJson,
  pageSchema,
  withMissing,
} from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'

const SHOWN = Json.named(
  'ConnectedClient',
  Json.object({
    id: Json.string('Names the connection.'),
    server: Json.string('The server to which it is connected.'),
    ip: Json.string(),
    port: Json.integer(),
    version: Json.string('The name and version of its library, as it says.'),
    appName: Json.string(),
    module: Json.string(
      'The purpose of the connection: config, naming; empty where the client does not say it.',
    ),
    clientIp: Json.string('The address that the client takes for its own.'),
    username: Json.string('The user whose credentials it has shown last; empty while it has shown none.'),
    labels: Json.map(Json.string()),
    sinceMs: Json.time(),
    heardAgoMs: Json.integer('How long ago something came from it.'),
    services: Json.integer('In how many services it has instances.'),
    instances: Json.integer(),
    subscriptions: Json.integer('How many services it subscribes to.'),
  }),
)

const ID = Type.String({ minLength: 1, maxLength: 256, description: 'The id of the connection.' })

/** The clients that are connected by gRPC to any server. */
export function connectedClientEndpoints(connectedClients: Operations['connectedClients']) {
  return {
    list: endpoint({
      summary: 'Lists the clients that are connected by gRPC, of all servers',
      permission: connectedClients.list.permission,
      answers: answersJson(
        pageSchema('ConnectedClients', SHOWN, {
          server: Json.string('The server that has replied.'),
          missingServers: Json.list(Json.string('A server that has not replied in time.')),
        }),
      ),
      params: Type.Object({
        search: Type.Optional(
          Type.String({
            maxLength: 256,
            description: 'A part of the id, address, library, application or user.',
          }),
        ),
        ...fields.page(50),
      }),
      handle({ params, caller }) {
        const { search: text = '', pageNo, pageSize } = params
        return afterwards(
          connectedClients.list({ text, pageNo, pageSize }, caller),
          ({ value: { server, page }, missing }) => {
            const shown = pageJson(params, page.totalCount, page.entries)
            return withMissing(jsonAnswer({ ...shown, server, missingServers: missing }), missing)
          },
        )
      },
    }),
    move: endpoint({
      summary: 'Sends a client to another server, or lets it connect again where there is only this one',
      permission: connectedClients.move.permission,
      answers: ANSWERS_TRUE,
      params: Type.Object({ id: ID }),
      handle: ({ params, caller }) => afterwards(connectedClients.move(params, caller), () => TRUE_JSON),
    }),
    close: endpoint({
      summary: 'Closes the connection of a client: its instances leave, and it connects again',
      permission: connectedClients.close.permission,
      answers: ANSWERS_TRUE,
      params: Type.Object({ id: ID }),
      handle: ({ params, caller }) => afterwards(connectedClients.close(params, caller), () => TRUE_JSON),
    }),
  } satisfies Record<string, Endpoint>
}
