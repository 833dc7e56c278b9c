// Serves one app of the HTTP suite on a free port: `http-process.ts APP`; the port goes to the parent. Ends with it.
import type { AddressInfo } from 'node:net'
import { APPS, type AppName } from './http/apps.ts'

const app = APPS[process.argv[2] as AppName]()
const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit())
