/**
 * The members of answers that are floats or doubles in Java, which writes whole numbers with a fraction. Within a JSON
 * text a quote has a backslash before it, so a match is always a member, and its value a number.
 */
const DECIMALS = /"(weight|protectThreshold|distroThreshold|factor|cpu|load|mem)":(-?\d[^,}\]]*)/g

/** From this number on, and below the next constant, Java writes an exponent. */
const EXPONENT_FROM = 1e7
const EXPONENT_BELOW = 1e-3

/** A number as Java writes a double: `1.0`, `0.5`, `1.0E21`. Some clients do not take `1` for a double. */
export function decimalText(value: number): string {
  const size = Math.abs(value)
  if (size !== 0 && (size >= EXPONENT_FROM || size < EXPONENT_BELOW)) return exponentText(value)
  return Number.isInteger(value) ? `${value}.0` : `${value}`
}

function exponentText(value: number): string {
  const [digits = '', exponent] = value.toExponential().split('e')
  return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`
}

/** A value as JSON, with the doubles of answers of naming as Java writes them. */
export function javaJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    DECIMALS,
    (_all, name: string, digits: string) => `"${name}":${decimalText(Number(digits))}`,
  )
}
