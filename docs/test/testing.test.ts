// The tests on the page "Testing your app", as they stand there.
import '../code/app-by-fetch.ts'
import '../code/app-by-supertest.ts'
