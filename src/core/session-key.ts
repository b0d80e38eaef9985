/** What the keys of a user's sessions begin with, in the user's scope. */
export const SESSION = 'session/'
