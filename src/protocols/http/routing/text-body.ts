/** The content types of a body that is the text itself. */
export const TEXT_TYPES = ['text/plain', 'application/octet-stream'] as const

/** The part of an endpoint whose content may be the body itself. */
export const TEXT_BODY = {
  textParam: 'content',
  bodyTypes: Object.fromEntries(
    TEXT_TYPES.map((type) => [type, { type: 'string', description: 'The content itself, as UTF-8.' }]),
  ),
} as const
