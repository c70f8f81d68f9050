import { definitions } from './definitions.ts'
import type { Settings } from './settings.ts'

/** The settings that differ from their defaults, by name, for the log. Durations in ms, sizes in bytes. */
export function changedSettings(settings: Settings): Record<string, unknown> {
  const changed: Record<string, unknown> = {}
  for (const [key, { name, default: usual }] of Object.entries(definitions)) {
    const value = settings[key as keyof Settings]
    if (JSON.stringify(value) !== JSON.stringify(usual)) changed[name] = value
  }
  return changed
}
