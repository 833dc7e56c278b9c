import { serve } from './serve.ts'

const worker: { fetch: (request: Request) => Promise<Response> } = { fetch: (request) => serve(request) }
export default worker
