import type { ConnectedClient, ConnectedClientOperations } from '../../../../operations/connected-clients.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { ANSWERS_TRUE, answersJson, Json } from '../../routing/answer-schema.ts'
import { jsonAnswer, TRUE_JSON } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { pageJson, pageSchema } from '../config/page-json.ts'

const SHOWN = Json.named(
  'ConnectedClient',
  Json.object({
    id: Json.string('Names the connection on this server.'),
    ip: Json.string(),
    port: Json.integer(),
    version: Json.string('The name and version of its library, as it says.'),
    appName: Json.string(),
    module: Json.string(
      'What the connection is for: config, naming; empty where the client does not say it.',
    ),
    clientIp: Json.string('The address that the client takes for its own.'),
    labels: Json.map(Json.string()),
    sinceMs: Json.time(),
    heardAgoMs: Json.integer('How long ago something came from it.'),
    services: Json.integer('In how many services it has instances.'),
    instances: Json.integer(),
    subscriptions: Json.integer('How many services it subscribes to.'),
  }),
)

const ID = Type.String({ minLength: 1, maxLength: 256, description: 'The id of the connection.' })

/** The clients that are connected by gRPC to the server that answers. */
export function connectedClientEndpoints({ list, move, close }: ConnectedClientOperations) {
  return {
    list: endpoint({
      summary: 'Lists the clients that are connected to this server by gRPC',
      permission: list.permission,
      answers: answersJson(
        pageSchema('ConnectedClients', SHOWN, { server: Json.string('The server that has replied.') }),
      ),
      params: Type.Object({
        search: Type.Optional(
          Type.String({ maxLength: 256, description: 'A part of the id, address, library or application.' }),
        ),
        pageNo: fields.withDefault(fields.pageNo, 1),
        pageSize: fields.withDefault(fields.pageSize, 50),
      }),
      handle({ params, caller }) {
        const { search: text = '', pageNo, pageSize } = params
        const { server, page } = list({ text, pageNo, pageSize }, caller)
        const items = page.entries.map(clientJson)
        return jsonAnswer({ ...pageJson(params, page.totalCount, items), server })
      },
    }),
    move: endpoint({
      summary: 'Sends a client to another server, or lets it connect again where there is only this one',
      permission: move.permission,
      answers: ANSWERS_TRUE,
      params: Type.Object({ id: ID }),
      handle({ params, caller }) {
        move(params, caller)
        return TRUE_JSON
      },
    }),
    close: endpoint({
      summary: 'Closes the connection of a client: its instances leave, and it connects again',
      permission: close.permission,
      answers: ANSWERS_TRUE,
      params: Type.Object({ id: ID }),
      handle({ params, caller }) {
        close(params, caller)
        return TRUE_JSON
      },
    }),
  } satisfies Record<string, Endpoint>
}

function clientJson({ labels, ...client }: ConnectedClient): object {
  return { ...client, labels: Object.fromEntries(labels) }
}
