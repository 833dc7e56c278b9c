// Serves one app of the HTTP suite: `http-process.ts FRAMEWORK CONTESTANT`. Its port goes to the parent, and whenever the
// parent asks, the time its processor has worked, in microseconds. Ends with the parent.
import type { AddressInfo } from 'node:net'
import { type ContestantName, FRAMEWORKS } from './http/apps.ts'

const [, , framework = '', contestant = ''] = process.argv
const start = FRAMEWORKS[framework]?.[contestant as ContestantName]
if (start === undefined) throw new Error(`no ${contestant} of ${framework}`)
const server = await start()
// Connections wait for their turns.
server.keepAliveTimeout = 600_000
process.send?.((server.address() as AddressInfo).port)
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.once('disconnect', () => process.exit())
