/** The name of our own tools, in User-Agent or as the application of a client. */
const NAME = /^waypost(\/|$)/

/** Whether a client is a tool of ours, such as a comparison of servers: it is no application that waits for anything. */
export function isOwnTool({ agent, app = '' }: { readonly agent: string; readonly app?: string }): boolean {
  return NAME.test(agent) || NAME.test(app)
}
