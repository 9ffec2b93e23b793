package shell

func (j *judge) hidden(name string, rest []string, s situation) {}
