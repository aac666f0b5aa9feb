"""Who is here, what may they see and do, which lakes are governed, which pages exist?"""
