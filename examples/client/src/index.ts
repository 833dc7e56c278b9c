export { runClient, type World } from './run-client.ts'
