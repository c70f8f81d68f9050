/** The longest value that is repeated in a message, in characters. */
const LONGEST = 64

/** The client's own value in a message: short, in quotes, and without characters that could disturb a terminal. */
export function shown(text: string): string {
  const start = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
  return `"${start.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?')}"`
}
