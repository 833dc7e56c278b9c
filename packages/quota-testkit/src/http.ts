export { type HttpAnswer, type HttpAsk, HttpClient, type HttpLog } from './http/client.ts'
export { describeHttp, HTTP_CASES } from './http/describe-http.ts'
export { type HeaderOf, HttpApp, type HttpAppOptions, type HttpCall } from './http/http-app.ts'
export {
  type HttpCapability,
  type HttpCase,
  type HttpHarness,
  runHttpCase,
  type ServedHttpApp,
} from './http/http-case.ts'
export { type NodeReply, playAsResponse, playOnNode } from './http/play.ts'
export {
  CONTROL_PATH,
  type HttpFailing,
  type HttpOperation,
  type HttpOwnAnswer,
  type HttpReply,
  type HttpRoute,
  type HttpRouteSettings,
  type HttpScenario,
  type HttpSettings,
} from './http/scenario.ts'
export type { StoreMood } from './http/scripted.ts'
