import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { SETTING_GROUPS } from '../../settings/definitions.ts'
import { addSettingOptions, givenSettings } from './start-options.ts'

function given(...args: string[]) {
  const command = new Command()
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .option('--settings <file>')
  addSettingOptions(command)
  command.parse(args, { from: 'user' })
  return givenSettings(command)
}

describe('the flags of a start', () => {
  test.each([[['--port', '1']], [['--port=1']], [['--port', '2', '--port', '1']]])(
    '%j set the port',
    (args) => expect(given(...args)).toEqual({ flags: { port: '1' } }),
  )

  test('are only the flags that the user gave', () => expect(given()).toEqual({ flags: {} }))

  test('have the names of the settings, dots too', () => {
    const name = 'svc.naming.clean.expired-metadata'
    expect(given(`--${name}.expired-time`, '100', `--${name}.interval=2s`)).toEqual({
      flags: { [`${name}.expired-time`]: '100', [`${name}.interval`]: '2s' },
    })
  })

  test('may have a value with an equals sign, and an empty value', () => {
    expect(given('--site=a=b').flags).toEqual({ site: 'a=b' })
    expect(given('--site=').flags).toEqual({ site: '' })
  })

  test('of a boolean need no value, and repeated flags of a list are joined', () => {
    expect(given('--node-streams').flags).toEqual({ 'node-streams': true })
    expect(given('--node-streams', '--no-node-streams').flags).toEqual({ 'node-streams': false })
    expect(given('--node-streams=false').flags).toEqual({ 'node-streams': 'false' })
    expect(given('--allowed-hosts', 'a', '--allowed-hosts=b').flags).toEqual({ 'allowed-hosts': 'a,b' })
  })

  test('that may be alone mean their word then', () => {
    expect(given('--auth', '--port', '1').flags).toEqual({ auth: 'on', port: '1' })
    expect(given('--auth', 'report').flags).toEqual({ auth: 'report' })
  })

  test('name a file of settings', () => expect(given('--settings', 'x')).toEqual({ flags: {}, file: 'x' }))

  test.each([
    [['8848'], 'too many arguments'],
    [['-p', '1'], "unknown option '-p'"],
    [['--port'], 'argument missing'],
    [['--prot', '1'], "unknown option '--prot'"],
    [['--settings'], 'argument missing'],
    [['--no-port'], "unknown option '--no-port'"],
  ])('%j are refused', (args, message) => expect(() => given(...args)).toThrow(message))

  test('have a meaning and a default in the help', () => {
    const command = new Command()
    addSettingOptions(command)
    const help = command.helpInformation()
    for (const { name } of Object.values(SETTING_GROUPS).flatMap((group) => Object.values(group)))
      expect(help).toContain(`--${name} `)
    expect(help).not.toContain('--node-streams')
    expect(help).toMatch(/Addresses and ports:\n(?:.*\n)*? {2}--port <value> .*\n?.*\(default:\s+8848\)/)
  })
})
